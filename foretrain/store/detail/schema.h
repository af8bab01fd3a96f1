// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace foretrain::store {

inline constexpr int kSchemaVersion = 3;           // PRAGMA user_version
inline constexpr int kApplicationId = 0x466F5472;  // PRAGMA application_id: "FoTr"

// The tables; docs/store.md says what they mean.
inline constexpr const char* kSchema = R"(
CREATE TABLE machines(
  id TEXT PRIMARY KEY NOT NULL CHECK (id <> ''), cpu TEXT NOT NULL, cores INTEGER,
  memory_bytes REAL, kernel TEXT NOT NULL, system TEXT NOT NULL, pytorch TEXT NOT NULL,
  details TEXT NOT NULL);
CREATE TABLE campaigns(
  name TEXT PRIMARY KEY NOT NULL CHECK (name <> ''), created TEXT NOT NULL,
  definition TEXT NOT NULL);
CREATE TABLE runs(
  id INTEGER PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns(name),
  machine TEXT NOT NULL REFERENCES machines(id), configuration TEXT NOT NULL,
  setting TEXT NOT NULL, split TEXT NOT NULL, repeat INTEGER NOT NULL, started TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status <> ''), message TEXT NOT NULL, calibration_before_s REAL,
  calibration_after_s REAL, foreign_load REAL, wall_s REAL, steps INTEGER, step_mean_s REAL,
  step_median_s REAL, step_sd_s REAL, exposed_sync_s REAL, details TEXT NOT NULL,
  request TEXT NOT NULL);
CREATE UNIQUE INDEX runs_ok ON runs(campaign, configuration, repeat) WHERE status = 'ok';
CREATE TABLE metrics(
  run INTEGER NOT NULL REFERENCES runs(id), role TEXT NOT NULL, instance INTEGER NOT NULL,
  resource TEXT NOT NULL, unit TEXT NOT NULL, pattern TEXT NOT NULL, burst_amount REAL,
  idle_amount REAL, burst_s REAL, idle_s REAL, burst_amount_sd REAL, idle_amount_sd REAL,
  burst_sd_s REAL, idle_sd_s REAL, burst_share REAL,
  PRIMARY KEY (run, role, instance, resource)) WITHOUT ROWID;
CREATE TABLE steps(run INTEGER PRIMARY KEY REFERENCES runs(id), times_s BLOB NOT NULL);
CREATE TABLE samples(
  run INTEGER NOT NULL REFERENCES runs(id), role TEXT NOT NULL, instance INTEGER NOT NULL,
  resource TEXT NOT NULL, unit TEXT NOT NULL, window_s REAL NOT NULL, scale REAL,
  packed BLOB NOT NULL, PRIMARY KEY (run, role, instance, resource)) WITHOUT ROWID;
CREATE TABLE operators(
  id INTEGER PRIMARY KEY, machine TEXT NOT NULL REFERENCES machines(id), source TEXT NOT NULL,
  split TEXT NOT NULL, kind TEXT NOT NULL, shapes TEXT NOT NULL, attributes TEXT NOT NULL,
  dtype TEXT NOT NULL, direction TEXT NOT NULL, time_s REAL NOT NULL, spread_s REAL,
  repeats INTEGER);
CREATE INDEX operators_source ON operators(source);
CREATE TABLE collectives(
  id INTEGER PRIMARY KEY, machine TEXT NOT NULL REFERENCES machines(id), source TEXT NOT NULL,
  kind TEXT NOT NULL, backend TEXT NOT NULL, link TEXT NOT NULL, ranks INTEGER NOT NULL,
  nodes INTEGER NOT NULL, bytes REAL NOT NULL, time_s REAL NOT NULL, spread_s REAL,
  repeats INTEGER);
CREATE INDEX collectives_source ON collectives(source);
CREATE TABLE training(
  id INTEGER PRIMARY KEY, file TEXT NOT NULL, source TEXT NOT NULL, framework TEXT NOT NULL,
  model TEXT NOT NULL, task_dataset TEXT NOT NULL, gpu TEXT NOT NULL, gpus TEXT NOT NULL,
  nodes TEXT NOT NULL, gpus_per_node TEXT NOT NULL, interconnect TEXT NOT NULL,
  precision TEXT NOT NULL, batch_per_gpu TEXT NOT NULL, global_batch TEXT NOT NULL,
  metric TEXT NOT NULL, value REAL NOT NULL, unit TEXT NOT NULL, parallelism TEXT NOT NULL,
  notes TEXT NOT NULL);
CREATE INDEX training_file ON training(file);
)";

// What a version lacked, from 1 on: statements that bring a file up to the next version.
inline constexpr std::array kUpgrades{
    "ALTER TABLE runs ADD COLUMN request TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE metrics ADD COLUMN burst_share REAL; "
    "CREATE TABLE samples("
    "  run INTEGER NOT NULL REFERENCES runs(id), role TEXT NOT NULL, instance INTEGER NOT NULL,"
    "  resource TEXT NOT NULL, unit TEXT NOT NULL, window_s REAL NOT NULL, scale REAL,"
    "  packed BLOB NOT NULL, PRIMARY KEY (run, role, instance, resource)) WITHOUT ROWID"};
// The same for who may only read: views hide the tables.
inline constexpr std::array kUpgradedViews{
    "CREATE TEMP VIEW runs AS SELECT *, '' AS request FROM main.runs",
    "CREATE TEMP VIEW metrics AS SELECT *, NULL AS burst_share FROM main.metrics; "
    "CREATE TEMP VIEW samples AS SELECT 0 AS run, '' AS role, 0 AS instance, '' AS resource,"
    "  '' AS unit, 0.0 AS window_s, NULL AS scale, x'' AS packed WHERE 0"};

}  // namespace foretrain::store
