// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/campaign.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::lab {
namespace {

constexpr std::size_t kMostConfigurations = 100'000;
constexpr int kMostHosts = 64;

[[noreturn]] void bad(const std::string& what) { throw Error(ErrorKind::BadInput, what); }

std::int64_t integer_within(JsonFields& fields, const char* key, std::int64_t otherwise,
                            std::int64_t least, std::int64_t most) {
  const std::int64_t value = fields.integer(key).value_or(otherwise);
  if (value < least || value > most) {
    bad(fields.where() + ": '" + key + "' is " + std::to_string(value) + ", must be " +
        std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

double number_within(JsonFields& fields, const char* key, double otherwise, double least,
                     double most) {
  const double value = fields.number(key).value_or(otherwise);
  if (!(value >= least && value <= most)) {
    bad(fields.where() + ": '" + key + "' is out of range");
  }
  return value;
}

std::string filled_text(JsonFields& fields, const char* key) {
  const std::string text = fields.required_text(key);
  if (text.empty()) bad(fields.where() + ": '" + key + "' is empty");
  return text;
}

// A text or a list of texts, braces expanded; neither it nor one of them is empty.
std::vector<std::string> texts(const Json& value, const std::string& where) {
  std::vector<std::string> result;
  const auto add = [&](const Json& one) {
    if (!one.is_string()) bad(where + ": must be a text or a list of texts");
    for (std::string& text : expand_braces(one.get<std::string>())) result.push_back(text);
    if (result.size() > kMostConfigurations) bad(where + ": too many");
  };
  if (value.is_array()) {
    for (const Json& one : value) add(one);
  } else {
    add(value);
  }
  if (result.empty()) bad(where + ": the list is empty");
  for (const std::string& text : result) {
    if (text.empty()) bad(where + ": a text is empty");
  }
  return result;
}

std::vector<std::int64_t> integers(const Json& value, const std::string& where) {
  std::vector<std::int64_t> result;
  for (const Json& one : value.is_array() ? value : Json::array({value})) {
    if (!one.is_number_integer() || one.get<std::int64_t>() < 1 ||
        one.get<std::int64_t>() > 1'000'000) {
      bad(where + ": must be a whole number from 1 to 1000000, or a list of them");
    }
    result.push_back(one.get<std::int64_t>());
  }
  if (result.empty()) bad(where + ": the list is empty");
  return result;
}

void read_strategy(const Json& value, const std::string& where, Setting& setting) {
  JsonFields fields(value, where);
  const std::string kind = fields.required_text("kind");
  if (kind != "ddp" && kind != "ps")
    bad(where + ": 'kind' is ddp or ps, not '" + printable(kind) + "'");
  setting.parameter_servers = kind == "ps";
  if (setting.parameter_servers) {
    setting.servers = static_cast<int>(integer_within(fields, "servers", 1, 1, kMostHosts));
    setting.asynchronous = fields.boolean("asynchronous").value_or(false);
  }
  fields.finish();
}

Setting read_setting(const std::string& name, const Json& value, const std::string& where) {
  JsonFields fields(value, where);
  Setting setting;
  setting.name = name;
  setting.workers = static_cast<int>(integer_within(fields, "workers", 2, 1, kMostHosts));
  setting.cores = number_within(fields, "cores", 1, 0.01, 1);
  if (const Json* strategy = fields.find("strategy")) {
    read_strategy(*strategy, where + ", 'strategy'", setting);
  }
  setting.network = fields.text("network").value_or("");
  if (!setting.network.empty()) setting.bytes_per_s = rate_of(setting.network, where);
  fields.finish();
  return setting;
}

// The fields of a request that would predict the job, and what the lab adds.
std::string key_of(const Configuration& one, const Setting& setting) {
  Json strategy{{"kind", setting.parameter_servers ? "ps" : "ddp"}};
  if (setting.parameter_servers) {
    strategy["servers"] = setting.servers;
    strategy["asynchronous"] = setting.asynchronous;
  }
  Json key{{"model", one.model},         {"batch", one.batch},     {"optimizer", one.optimizer},
           {"workers", setting.workers}, {"cores", setting.cores}, {"strategy", strategy}};
  if (setting.cores == std::floor(setting.cores)) key["cores"] = std::llround(setting.cores);
  if (!setting.network.empty()) key["network"] = setting.network;
  if (one.whole()) {
    key["samples"] = one.samples;
    key["epochs"] = one.epochs;
  }
  return json_text(key);
}

// Throws an Error of the kind.
int setting_named(const Campaign& campaign, const std::string& name, ErrorKind kind,
                  const std::string& where) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < campaign.settings.size(); ++i) {
    if (campaign.settings[i].name == name) return static_cast<int>(i);
    names.push_back(campaign.settings[i].name);
  }
  throw Error(kind,
              where + ": unknown setting '" + printable(name) + "'" + did_you_mean(name, names));
}

class Reader {
 public:
  Reader(const Json& file, std::string where, Campaign& campaign)
      : where_(std::move(where)), fields_(file, where_), campaign_(campaign) {}

  void read() {
    read_numbers();
    read_hosts();
    read_settings();
    if (const Json* test = fields_.find("test"); test != nullptr && *test != Json::array()) {
      for (std::string& model : texts(*test, where_ + ", 'test'")) test_.insert(model);
    }
    repeats_ = static_cast<int>(integer_within(fields_, "repeats", 2, 1, 100));
    test_repeats_ = static_cast<int>(integer_within(fields_, "test_repeats", repeats_, 1, 100));
    const Json& jobs = fields_.require("jobs");
    if (!jobs.is_array() || jobs.empty()) bad(where_ + ": 'jobs' must be a list of jobs");
    int index = 0;
    for (const Json& job : jobs) read_jobs(job, where_ + ", job " + std::to_string(++index));
    fields_.ignore("about");
    fields_.finish();
    require_test_models();
    order_runs();
  }

 private:
  void read_numbers() {
    if (fields_.required_text("format") != "foretrain-campaign") {
      bad(where_ + ": 'format' must be \"foretrain-campaign\"");
    }
    if (integer_within(fields_, "version", 0, 0, 1 << 30) != 1) {
      throw Error(ErrorKind::Unsupported, where_ + ": 'version' must be 1");
    }
    campaign_.name = filled_text(fields_, "name");
    campaign_.least_time = Seconds(number_within(fields_, "seconds", 10, 0.01, 3600));
    campaign_.least_steps = static_cast<int>(integer_within(fields_, "steps", 20, 1, 100'000));
    campaign_.warm_up = static_cast<int>(integer_within(fields_, "warm_up", 3, 1, 1000));
    campaign_.window = Seconds(number_within(fields_, "window_s", 0.01, 0.001, 10));
    campaign_.memory_window = Seconds(number_within(fields_, "memory_window_s", 0.002, 0.001, 10));
    campaign_.threads = static_cast<int>(integer_within(fields_, "threads", 1, 1, 1024));
    campaign_.most_foreign_cores = number_within(fields_, "foreign_cores", 0.1, 0, 1e6);
    campaign_.outlier = number_within(fields_, "outlier", 0.15, 0.001, 1e6);
    campaign_.attempts = static_cast<int>(integer_within(fields_, "attempts", 3, 1, 100));
  }

  void read_hosts() {
    const Json* hosts = fields_.find("hosts");
    if (hosts == nullptr) return;
    if (!hosts->is_array() || hosts->size() > kMostHosts) bad(where_ + ": 'hosts' must be a list");
    for (const Json& host : *hosts) {
      JsonFields fields(host, where_ + ", 'hosts'");
      RemoteHost remote;
      remote.command = texts(fields.require("command"), where_ + ", 'command'");
      remote.address = filled_text(fields, "address");
      remote.interface = filled_text(fields, "interface");
      fields.finish();
      campaign_.hosts.push_back(remote);
    }
  }

  void read_settings() {
    const Json& settings = fields_.require("settings");
    if (!settings.is_object() || settings.empty()) bad(where_ + ": 'settings' must be an object");
    for (const auto& [name, value] : settings.items()) {
      const std::string place = where_ + ", setting '" + printable(name) + "'";
      campaign_.settings.push_back(read_setting(name, value, place));
      const Setting& setting = campaign_.settings.back();
      const auto needed = static_cast<std::size_t>(setting.workers + setting.servers);
      if (!campaign_.hosts.empty() && needed > campaign_.hosts.size()) {
        bad(place + ": needs " + std::to_string(needed) + " hosts");
      }
      if (!campaign_.hosts.empty() && (setting.bytes_per_s > 0 || setting.cores < 1)) {
        bad(place + ": remote hosts are used as they are: give it no 'network' and whole cores");
      }
    }
  }

  void read_jobs(const Json& job, const std::string& where) {
    JsonFields fields(job, where);
    const std::vector<std::string> models = texts(fields.require("models"), where + ", 'models'");
    const std::vector<std::int64_t> batches =
        integers(fields.require("batches"), where + ", 'batches'");
    const Json* given = fields.find("optimizers");
    const std::vector<std::string> optimizers = given != nullptr
                                                    ? texts(*given, where + ", 'optimizers'")
                                                    : std::vector<std::string>{"momentum"};
    const std::vector<std::string> settings =
        texts(fields.require("settings"), where + ", 'settings'");
    Configuration one;
    one.samples = integer_within(fields, "samples", 0, 0, 100'000'000);
    one.epochs = integer_within(fields, "epochs", 0, 0, 10'000);
    if ((one.samples > 0) != (one.epochs > 0))
      bad(where + ": a whole job has 'samples' and 'epochs'");
    fields.finish();
    for (const std::string& setting : settings) {
      one.setting = setting_named(campaign_, setting, ErrorKind::BadInput, where);
      for (const std::string& optimizer : optimizers) {
        one.optimizer = optimizer;
        for (const std::string& model : models) {
          one.model = model;
          for (const std::int64_t batch : batches) add(one, batch, where);
        }
      }
    }
  }

  void add(Configuration one, std::int64_t batch, const std::string& where) {
    static const std::vector<std::string> kOptimizers{"sgd", "momentum", "adam", "adamw"};
    if (std::find(kOptimizers.begin(), kOptimizers.end(), one.optimizer) == kOptimizers.end()) {
      bad(where + ": unknown optimizer '" + printable(one.optimizer) + "'" +
          did_you_mean(one.optimizer, kOptimizers));
    }
    const Setting& setting = campaign_.settings[static_cast<std::size_t>(one.setting)];
    one.batch = batch;
    if (one.whole() && one.samples < batch * setting.workers) {
      bad(where + ": 'samples' are fewer than one batch of every worker");
    }
    one.split = test_.contains(one.model) ? "test" : "train";
    one.text = key_of(one, setting);
    if (!seen_.insert(one.text).second) bad(where + ": the job is there twice: " + one.text);
    if (seen_.size() > kMostConfigurations) bad(where + ": too many jobs");
    campaign_.configurations.push_back(one);
  }

  void require_test_models() const {
    std::set<std::string_view> used;
    for (const Configuration& one : campaign_.configurations) used.insert(one.model);
    for (const std::string& model : test_) {
      if (!used.contains(model))
        bad(where_ + ": 'test' names the model '" + printable(model) + "', which no job has");
    }
  }

  // All first repeats, then all second ones: those of one configuration are far apart in time.
  // Whole jobs, which run once, come last.
  void order_runs() {
    for (int repeat = 0; repeat < std::max(repeats_, test_repeats_); ++repeat) {
      add_runs(repeat, [&](const Configuration& one) {
        return !one.whole() && repeat < (one.split == "test" ? test_repeats_ : repeats_);
      });
    }
    add_runs(0, [](const Configuration& one) { return one.whole(); });
  }

  template <typename Wanted>
  void add_runs(int repeat, const Wanted& wanted) {
    for (std::size_t i = 0; i < campaign_.configurations.size(); ++i) {
      if (!wanted(campaign_.configurations[i])) continue;
      campaign_.planned.push_back({static_cast<int>(i), repeat});
    }
  }

  std::string where_;
  JsonFields fields_;
  Campaign& campaign_;
  std::set<std::string> test_;
  std::set<std::string> seen_;
  int repeats_ = 2;
  int test_repeats_ = 2;
};

}  // namespace

void keep_settings(Campaign& campaign, const std::vector<std::string>& names) {
  std::set<int> kept;
  for (const std::string& name : names) {
    kept.insert(setting_named(campaign, name, ErrorKind::NotFound, "the campaign"));
  }
  std::erase_if(campaign.planned, [&](const PlannedRun& run) {
    const auto place = static_cast<std::size_t>(run.configuration);
    return !kept.contains(campaign.configurations[place].setting);
  });
}

double rate_of(const std::string& text, const std::string& where) {
  const char* end = text.data() + text.size();
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double bits = unit == "mbps" ? 1e6 : unit == "gbps" ? 1e9 : 0;
  const double rate = value * bits / 8;
  if (error != std::errc() || !(rate >= 125e3 && rate <= 125e9)) {
    bad(where + ": the rate '" + printable(text) + "' must be like 100mbps or 1gbps");
  }
  return rate;
}

Campaign read_campaign(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  Campaign campaign;
  campaign.definition = std::string(text);
  Reader(file, where, campaign).read();
  return campaign;
}

}  // namespace foretrain::lab
