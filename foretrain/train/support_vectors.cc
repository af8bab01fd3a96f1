// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/support_vectors.h"

#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/train/standardise.h"

namespace foretrain::train {
namespace {

// The rows as libsvm wants them: pairs of a column, from 1 on, and its value, ended by -1.
std::vector<std::vector<svm_node>> nodes_of(const std::vector<std::vector<double>>& rows) {
  std::vector<std::vector<svm_node>> result;
  for (const std::vector<double>& row : rows) {
    std::vector<svm_node>& nodes = result.emplace_back();
    for (std::size_t j = 0; j < row.size(); ++j) {
      nodes.push_back({static_cast<int>(j) + 1, row[j]});
    }
    nodes.push_back({-1, 0});
  }
  return result;
}

double deviation_of(const std::vector<double>& targets) {
  const std::vector<std::vector<double>> column = [&] {
    std::vector<std::vector<double>> rows;
    for (const double target : targets) rows.push_back({target});
    return rows;
  }();
  return standard_of(column).deviation.front();
}

svm_parameter parameters(double gamma, double cost, double margin) {
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = RBF;
  parameter.gamma = gamma;
  parameter.C = cost;
  parameter.p = margin;
  parameter.eps = 1e-3;       // of its own stop rule
  parameter.cache_size = 64;  // MB
  parameter.shrinking = 1;
  return parameter;
}

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

}  // namespace

learn::KernelModel fit_support_vectors(const BoostData& data, double cost, double breadth) {
  learn::KernelModel model;
  model.input = standard_of(data.features);
  const auto features = static_cast<double>(std::max<std::size_t>(1, model.input.mean.size()));
  model.gamma = 1 / (breadth * features);
  std::vector<std::vector<svm_node>> nodes = nodes_of(standardise(data.features, model.input));
  std::vector<svm_node*> rows;
  for (std::vector<svm_node>& row : nodes) rows.push_back(row.data());
  std::vector<double> targets = data.targets;
  const svm_problem problem{static_cast<int>(rows.size()), targets.data(), rows.data()};
  const svm_parameter parameter = parameters(model.gamma, cost, 0.01 * deviation_of(targets));
  if (const char* what = svm_check_parameter(&problem, &parameter)) {
    throw Error(ErrorKind::BadInput, std::string("libsvm: ") + what);
  }
  svm_set_print_string_function([](const char*) {});
  const std::unique_ptr<svm_model, FreeModel> found(svm_train(&problem, &parameter));
  model.offset = -found->rho[0];
  for (int i = 0; i < found->l; ++i) {
    model.weights.push_back(found->sv_coef[0][i]);
    std::vector<double>& vector = model.vectors.emplace_back(model.input.mean.size());
    for (const svm_node* node = found->SV[i]; node->index > 0; ++node) {
      vector[static_cast<std::size_t>(node->index) - 1] = node->value;
    }
  }
  return model;
}

}  // namespace foretrain::train
