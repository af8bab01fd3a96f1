// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::store {

inline constexpr int kSchemaVersion = 2;           // PRAGMA user_version
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
  burst_sd_s REAL, idle_sd_s REAL, PRIMARY KEY (run, role, instance, resource)) WITHOUT ROWID;
CREATE TABLE steps(run INTEGER PRIMARY KEY REFERENCES runs(id), times_s BLOB NOT NULL);
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

// From version 1, which did not keep what was asked of predict.
inline constexpr const char* kUpgrade =
    "ALTER TABLE runs ADD COLUMN request TEXT NOT NULL DEFAULT ''; PRAGMA user_version=2";
// The same for who may only read: a view hides the table.
inline constexpr const char* kUpgradedView =
    "CREATE TEMP VIEW runs AS SELECT *, '' AS request FROM main.runs";

}  // namespace foretrain::store
