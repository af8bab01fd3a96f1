// SPDX-License-Identifier: Apache-2.0
// The module foretrain._core, which the Python classes stand on. Requests, reports and catalogs
// pass as JSON text; a graph stays on this side.
#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/evaluate/print.h"
#include "foretrain/fit/device_calibration.h"
#include "foretrain/fleet/simulation.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/dot.h"
#include "foretrain/graph/graph_summary.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/rules.h"
#include "foretrain/graph/set_symbols.h"
#include "foretrain/hw/hardware_json.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"
#include "foretrain/predict/predict_many.h"
#include "foretrain/predict/vary.h"
#include "foretrain/predict/what_if.h"
#include "foretrain/request/find_model.h"
#include "foretrain/request/request_fields.h"
#include "foretrain/store/fill_store.h"
#include "foretrain/store/store_json.h"
#include "foretrain/zoo/models_json.h"
#include "foretrain/zoo/zoo.h"

namespace py = pybind11;

namespace foretrain {
namespace {

using graph::Graph;
using graph::TensorId;
using GraphPointer = std::shared_ptr<Graph>;
using DimText = std::variant<std::int64_t, std::string>;  // 64 or "2*batch"
using ShapeText = std::vector<DimText>;
using Values = std::variant<DimText, ShapeText>;

const Library& library() {
  static const Library library = load_library();
  return library;
}

Report predict_model(const Request& request, const GraphPointer& model) {
  return model == nullptr ? predict(request, library()) : predict(request, model, library());
}

std::string predict_json(const std::string& request, const GraphPointer& model) {
  const Request asked = parse_request(request, "predict");
  if (model == nullptr) return to_json(predict_and_advise(asked, library()));
  return to_json(advise(
      predict_model(asked, model), asked, library(),
      [&model](const Request& one) { return predict_model(one, model); },
      3 * model->nodes.size()));  // forward, backward, update
}

std::vector<std::string> predict_many_json(const std::vector<std::string>& requests, int threads) {
  return predict_many(requests, 1, threads, library());
}

std::string vary_json(const std::string& request, const std::string& field,
                      const std::vector<std::string>& values, const GraphPointer& model,
                      std::optional<double> deadline_s) {
  const Variation variation = vary(
      request, field, values, [&model](const Request& one) { return predict_model(one, model); });
  return to_json(variation, deadline_s ? std::optional(Seconds{*deadline_s}) : std::nullopt);
}

std::string what_if_json(const std::string& request, const GraphPointer& model) {
  const Request asked = parse_request(request, "what_if");
  return to_json(model == nullptr ? what_if(asked, library()) : what_if(asked, model, library()));
}

std::string simulate_json(const std::string& request) {
  return fleet::simulate_json(fleet::parse_simulation_request(request, "simulate"), library());
}

std::string evaluate_json(const std::string& data, const std::string& source,
                          const std::optional<std::vector<std::string>>& by, bool count_refused,
                          const std::vector<std::string>& predictors) {
  evaluate::Options options;
  options.source = source;
  if (by) options.by = *by;
  options.count_refused = count_refused;
  Library known = copy_of(library());
  for (const std::string& file : predictors) use(known, read_predictor(file));
  return evaluate::to_json(evaluate::evaluate(data, options, known, {}));
}

std::string import_json(const std::string& file, const std::vector<std::string>& paths,
                        const std::string& request) {
  std::vector<store::Imported> files;
  store::fill_store(file, [&](store::Store& store) {
    files = measured::import_measured(store, {paths.begin(), paths.end()}, request);
  });
  return store::imported_json(files);
}

std::string calibrate_json(const std::string& data, std::optional<std::size_t> runs) {
  fit::DeviceMeasurements by;
  by.data = data;
  by.runs = runs;
  const fit::FoundCalibration found = fit::calibrate_device(by, {}, copy_of(library()), {});
  return write_calibration(found.calibration, std::span(&found.by, 1));
}

GraphPointer find_graph(const std::string& model) {
  return std::make_shared<Graph>(find_model(model));
}

GraphPointer read_graph(const std::string& content, const std::string& where) {
  return std::make_shared<Graph>(read_model(content, where));
}

std::string summary_json(const Graph& model, std::int64_t batch) {
  return graph::graph_json(graph::summarise_graph(model, batch, std::nullopt), batch);
}

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& entries) {
  std::vector<const T*> result;
  for (const T& entry : entries) result.push_back(&entry);
  return result;
}

GraphPointer set_symbols(const Graph& model, const std::map<std::string, std::int64_t>& values) {
  auto result = std::make_shared<Graph>(
      graph::set_symbols(model, graph::Binding(values.begin(), values.end())));
  graph::verify(*result);
  return result;
}

DType type_named(const std::string& name) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (name == kDTypeNames[i]) return static_cast<DType>(i);
  }
  throw Error(ErrorKind::BadInput, "there is no type '" + printable(name) + "'");
}

// A graph that grows node by node; shapes are inferred and compared with what the framework says.
class GraphBuilder {
 public:
  GraphBuilder(std::string name, std::vector<std::string> symbols) {
    graph_.name = std::move(name);
    graph_.symbols = std::move(symbols);
  }

  TensorId tensor(const std::string& name, const ShapeText& shape, const std::string& type,
                  const std::string& role, bool trainable) {
    const std::optional<graph::Role> found = graph::role_named(role);
    if (!found) throw Error(ErrorKind::BadInput, "there is no role '" + printable(role) + "'");
    graph_.tensors.push_back({name, to_shape(shape), type_named(type), *found, trainable});
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  // Appends a node and returns its outputs, which begin with those of `shapes`. Throws
  // Error(BadInput) and leaves the graph as it was when the operator gives other shapes.
  std::vector<TensorId> add(const std::string& op, std::vector<TensorId> inputs,
                            const std::vector<ShapeText>& shapes,
                            const std::vector<std::string>& types,
                            const std::vector<std::pair<std::string, Values>>& attributes,
                            const std::string& scope, const std::string& label) {
    const std::optional<graph::Kind> kind = graph::kind_named(op);
    if (!kind) throw Error(ErrorKind::BadInput, "there is no operator '" + printable(op) + "'");
    graph::Node node;
    node.kind = *kind;
    node.inputs = std::move(inputs);
    node.scope = scope;
    node.label = label;
    for (const auto& [name, values] : attributes) set(node, name, values);
    if (graph::op(*kind).infer == graph::infer_given) return given(std::move(node), shapes, types);
    return inferred(std::move(node), shapes, types);
  }

  // How much there is, and the way back to it.
  using Mark = std::pair<std::size_t, std::size_t>;
  Mark mark() const { return {graph_.nodes.size(), graph_.tensors.size()}; }
  void rollback(const Mark& mark) {
    graph_.nodes.resize(std::min(mark.first, graph_.nodes.size()));
    graph_.tensors.resize(std::min(mark.second, graph_.tensors.size()));
  }

  GraphPointer finish(std::vector<TensorId> outputs, std::optional<TensorId> loss,
                      std::vector<std::string> notes) {
    graph_.outputs = std::move(outputs);
    graph_.loss = loss;
    graph_.notes = std::move(notes);
    graph::verify(graph_);
    return std::make_shared<Graph>(std::exchange(graph_, Graph{}));
  }

 private:
  graph::Dim to_dim(const DimText& text) const {
    if (const auto* number = std::get_if<std::int64_t>(&text)) return graph::Dim(*number);
    return graph::parse_dim(std::get<std::string>(text), graph_.symbols);
  }

  graph::Shape to_shape(const ShapeText& text) const {
    graph::Shape shape;
    for (const DimText& dim : text) shape.push_back(to_dim(dim));
    return shape;
  }

  void set(graph::Node& node, const std::string& name, const Values& values) const {
    const std::optional<graph::Attr> key = graph::attr_named(name);
    if (!key) throw Error(ErrorKind::BadInput, "there is no attribute '" + printable(name) + "'");
    const ShapeText list = std::holds_alternative<DimText>(values)
                               ? ShapeText{std::get<DimText>(values)}
                               : std::get<ShapeText>(values);
    std::vector<graph::Dim> dims;
    for (const DimText& value : list) {
      const bool type = *key == graph::Attr::Type && std::holds_alternative<std::string>(value);
      dims.push_back(
          type ? graph::Dim(static_cast<std::int64_t>(type_named(std::get<std::string>(value))))
               : to_dim(value));
    }
    node.attributes.set(*key, std::move(dims));
  }

  std::vector<TensorId> given(graph::Node node, const std::vector<ShapeText>& shapes,
                              const std::vector<std::string>& types) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      node.outputs.push_back(tensor("", shapes[i], types.at(i), "activation", false));
    }
    std::vector<TensorId> outputs = node.outputs;
    graph_.nodes.push_back(std::move(node));
    return outputs;
  }

  std::vector<TensorId> inferred(graph::Node node, const std::vector<ShapeText>& shapes,
                                 const std::vector<std::string>& types) {
    const Mark before = mark();
    std::vector<TensorId> outputs = graph::append(graph_, std::move(node));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const graph::Shape wanted = to_shape(shapes[i]);
      const bool fits = i < outputs.size() && graph_.tensor(outputs[i]).shape == wanted;
      if (!fits) {
        const std::string got = i < outputs.size()
                                    ? to_string(graph_.tensor(outputs[i]).shape, graph_.symbols)
                                    : "none";
        rollback(before);
        throw Error(ErrorKind::BadInput, "output " + std::to_string(i) + " has shape " + got +
                                             " instead of " + to_string(wanted, graph_.symbols));
      }
      graph_.tensor(outputs[i]).type = type_named(types.at(i));
    }
    return outputs;
  }

  Graph graph_;
};

// C++ errors become foretrain.Error, which is defined in Python.
void translate_errors() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> error;
  error.call_once_and_store_result(
      [] { return py::module_::import("foretrain.errors").attr("Error"); });
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& e) {
      const py::object& type = error.get_stored();
      PyErr_SetObject(type.ptr(), type(e.what(), to_string(e.kind())).ptr());
    }
  });
}

void bind_graph(py::module_& module) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Graph, GraphPointer>(module, "Graph")
      .def_property_readonly("name", [](const Graph& g) { return g.name; })
      .def_property_readonly("symbols", [](const Graph& g) { return g.symbols; })
      .def_property_readonly("notes", [](const Graph& g) { return g.notes; })
      .def_property_readonly("parameters", &graph::parameter_count)
      .def("ftg", &importer::write_ftg, Unlocked())
      .def("dot", &graph::to_dot, Unlocked())
      .def("set_symbols", &set_symbols, py::arg("values"), Unlocked())
      .def("summary_json", &summary_json, py::arg("batch"), Unlocked());
  py::class_<GraphBuilder>(module, "GraphBuilder")
      .def(py::init<std::string, std::vector<std::string>>(), py::arg("name"), py::arg("symbols"))
      .def("tensor", &GraphBuilder::tensor, py::arg("name"), py::arg("shape"), py::arg("type"),
           py::arg("role"), py::arg("trainable") = false)
      .def("add", &GraphBuilder::add, py::arg("op"), py::arg("inputs"), py::arg("shapes"),
           py::arg("types"), py::arg("attributes"), py::arg("scope"), py::arg("label"))
      .def("mark", &GraphBuilder::mark)
      .def("rollback", &GraphBuilder::rollback, py::arg("mark"))
      .def("finish", &GraphBuilder::finish, py::arg("outputs"), py::arg("loss"), py::arg("notes"));
  module.def("find_graph", &find_graph, py::arg("model"), Unlocked());
  module.def("read_graph", &read_graph, py::arg("content"), py::arg("where"), Unlocked());
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  module.doc() = "What the package foretrain stands on; its names are not for others.";
  translate_errors();
  bind_graph(module);
  module.def("predict_json", &predict_json, py::arg("request"), py::arg("model"), Unlocked());
  module.def("predict_many_json", &predict_many_json, py::arg("requests"), py::arg("threads"),
             Unlocked());
  module.def("vary_json", &vary_json, py::arg("request"), py::arg("field"), py::arg("values"),
             py::arg("model"), py::arg("deadline_s"), Unlocked());
  module.def("what_if_json", &what_if_json, py::arg("request"), py::arg("model"), Unlocked());
  module.def("simulate_json", &simulate_json, py::arg("request"), Unlocked());
  module.def("evaluate_json", &evaluate_json, py::arg("data"), py::arg("source"), py::arg("by"),
             py::arg("count_refused"), py::arg("predictors"), Unlocked());
  module.def("import_json", &import_json, py::arg("store"), py::arg("paths"), py::arg("request"),
             Unlocked());
  module.def("calibrate_json", &calibrate_json, py::arg("data"), py::arg("runs"), Unlocked());
  module.def("devices_json", [] { return hw::devices_json(pointers(library().catalog.devices)); });
  module.def("networks_json", [] { return hw::networks_json(pointers(library().catalog.links)); });
  module.def("clouds_json", [] { return hw::clouds_json(pointers(library().catalog.instances)); });
  module.def("models_json", [] { return zoo::models_json(pointers(zoo::models())); });
  module.def("request_fields_json", &request_fields_json);
}

}  // namespace foretrain
