# SPDX-License-Identifier: Apache-2.0
# The commands of the project; `make help` lists them. CMake does the work.
.DEFAULT_GOAL := help
.PHONY: help build demo test wheel bench accuracy fuzz kill format check-format lint clean

FORETRAIN := build/release/foretrain
SOURCES = $(shell find foretrain bench fuzz python tests \( -name '*.h' -o -name '*.cc' \) 2>/dev/null | sort)
FUZZ_SECONDS ?= 600
KILLS ?= 100

help:  ## list these commands
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

# Configured once; later changes of CMakeLists.txt are noticed by the build itself.
build/%/build.ninja: CMakePresets.json
	@mkdir -p build/$*
	@cmake --preset $* >build/$*/configure.log 2>&1 || { cat build/$*/configure.log; exit 1; }
	@touch $@

packages-%:
	@tools/install_packages.sh build $*

build: packages-build  ## build the program: build/release/foretrain
	@$(MAKE) -s build/release/build.ninja
	@cmake --build --preset release --target foretrain_cli foretrain_fit_program

demo: build  ## build and show a prediction
	$(FORETRAIN) predict resnet50 --device v100-sxm2-16gb --workers 8 --batch 128 --precision fp32 --dataset imagenet --epochs 90

# Of what reads other people's files, the tests run with sanitizers as well; `make sanitize` does it for all.
SANITIZED := foretrain_base_test foretrain_graph_test foretrain_importer_test

test: packages-test build check-format  ## build and run all tests, with sanitizers where foreign files are read, and Python's
	@cmake --build --preset release
	@$(MAKE) -s build/dev/build.ninja
	@cmake --build --preset dev --target $(SANITIZED)
	@ctest --preset release
	@for test in $(SANITIZED); do build/dev/$$test --gtest_brief=1 || exit 1; done
	@tools/python_tests.sh

.PHONY: sanitize
sanitize: packages-test  ## run all C++ tests with address, undefined-behaviour and thread sanitizers
	@$(MAKE) -s build/dev/build.ninja build/tsan/build.ninja
	@cmake --build --preset dev
	@ctest --preset dev
	@cmake --build --preset tsan --target foretrain_predict_test
	@build/tsan/foretrain_predict_test --gtest_filter='StalePredictor.*:PredictMany.*:Predict.ManyThreads*'

wheel: packages-build packages-python  ## build the Python package: build/python/foretrain-*.whl
	@python3 -m pip wheel --quiet --no-deps --config-settings=build-dir=build/wheel --wheel-dir build/python .

bench: packages-bench build  ## print the speed figures
	@cmake --preset release -DFORETRAIN_BENCH=ON >/dev/null
	@cmake --build --preset release
	build/release/foretrain_bench
	@python3 bench/run.py $(FORETRAIN)
	@python3 bench/scale_bench.py $(FORETRAIN)
	@python3 bench/simulate_bench.py $(FORETRAIN) $(DATA)
	build/release/foretrain_profile_test --gtest_also_run_disabled_tests --gtest_filter='*QuietMachine*'

.PHONY: bench-network
bench-network: packages-build  ## the graph network's training step against PyTorch's: make bench-network TORCH_PYTHON=python
	@$(MAKE) -s build/release/build.ninja
	@cmake --build --preset release --target foretrain_graph_network_bench
	@python3 bench/graph_network/compare.py build/release/foretrain_graph_network_bench $(or $(TORCH_PYTHON),python3)

.PHONY: accuracy-data
accuracy-data:
	@test -n "$(DATA)" || { echo 'make accuracy needs the folder of measurements: make accuracy DATA=dir' >&2; exit 2; }
	@test -d "$(DATA)/training" || { echo 'make accuracy: no folder $(DATA)/training' >&2; exit 2; }

accuracy: accuracy-data build  ## print the error tables, write docs/accuracy.md: make accuracy DATA=dir
	@python3 -B tools/write_accuracy.py $(FORETRAIN) $(DATA) docs/accuracy.md $(if $(MODELS),--models $(MODELS))

.PHONY: leave-model-out
leave-model-out: build  ## steps of models left out of their framework's fit, writes docs/leave_model_out.md: make leave-model-out DATA=dir
	@test -f "$(DATA)/training/pollux.csv" || { echo 'make leave-model-out needs the folder of measurements: make leave-model-out DATA=dir' >&2; exit 2; }
	@python3 tools/leave_model_out.py $(FORETRAIN) $(DATA)/training/pollux.csv docs/leave_model_out.md

.PHONY: leave-out
leave-out: accuracy-data build  ## errors on GPUs and models left out of fits, writes docs/leave_out.md: make leave-out DATA=dir
	@python3 tools/leave_out.py $(FORETRAIN) $(DATA) docs/leave_out.md

.PHONY: leave-generations-out
leave-generations-out: accuracy-data build  ## print errors on generations of GPUs left out of fits: make leave-generations-out DATA=dir
	@python3 tools/leave_out.py $(FORETRAIN) $(DATA) - --generations

.PHONY: reference study
reference: build  ## hold the simulator against published answers: make reference DATA=dir
	@test -f "$(DATA)/traces/reference.csv" || { echo 'make reference needs the folder of measurements: make reference DATA=dir' >&2; exit 2; }
	@python3 bench/simulate_reference.py $(FORETRAIN) $(DATA)

study: build  ## what predictions buy a scheduler, writes docs/simulator_study.md: make study DATA=dir
	@test -d "$(DATA)/traces" || { echo 'make study needs the folder of measurements: make study DATA=dir' >&2; exit 2; }
	@python3 bench/simulate_study.py $(FORETRAIN) $(DATA) docs/simulator_study.md

.PHONY: models
models:  ## tables of constants from the files in use, writes docs/models/
	@python3 -B tools/write_models.py

.PHONY: lab-report
lab-report:  ## tables and plots of what the lab measured, writes docs/lab.md
	@python3 tools/write_lab.py data/lab/measured docs

.PHONY: scaling-report search-report
scaling-report: accuracy-data build  ## scaling models between and beyond measured values: make scaling-report DATA=dir
	@python3 -B tools/write_scaling.py $(FORETRAIN) $(DATA)/training/pollux.csv docs

.PHONY: ray-report
ray-report: build  ## forecasts of what was measured on Ray, writes docs/ray_tests.md
	@python3 -B tools/write_ray_tests.py $(FORETRAIN) data/ray/measured docs

search-report: accuracy-data build  ## runs that a search needs, against points drawn at random: make search-report DATA=dir
	@python3 -B tools/write_search.py $(FORETRAIN) $(DATA)/training/pollux.csv docs --jobs $(or $(JOBS),data/lab/fourth_machine)

.PHONY: lab-accuracy
lab-accuracy: build  ## predictions against what the lab measured, writes docs/lab_accuracy.md
	@python3 tools/lab_accuracy.py $(FORETRAIN) data/lab docs

# Trainings that are done are kept in build/inspector and not repeated; an interrupted call goes on.
INSPECTOR_DATA ?= data/lab/third_machine
INSPECTOR_SETTINGS ?= data/lab/resources
INSPECTOR_OTHERS ?= data/lab/second_machine data/lab/fourth_machine
.PHONY: inspector-report inspector-ablations inspector-transfer predictors
inspector-report: build  ## predicted use of resources against the lab, writes docs/inspector.md
	@python3 -B tools/write_inspector.py $(FORETRAIN) $(INSPECTOR_DATA) docs --settings $(INSPECTOR_SETTINGS) \
	    --others $(INSPECTOR_OTHERS) --keep build/inspector

inspector-ablations: build  ## train the graph networks that docs/inspector.md compares
	@python3 -B tools/inspector_ablations.py $(FORETRAIN) $(INSPECTOR_DATA) build/inspector

inspector-transfer: build  ## train the transfers that docs/inspector.md compares
	@python3 -B tools/inspector_transfer.py $(FORETRAIN) $(INSPECTOR_SETTINGS) build/inspector

predictors: build  ## refit the predictors that are shipped beside the program: data/inspectors/
	@$(FORETRAIN) fit inspector --data data/lab/third_machine,data/lab/resources,data/lab/second_machine,data/lab/fourth_machine \
	    -o data/inspectors/lab.json

# Needs a Python with torch and scikit-learn. An interrupted call goes on from the last checkpoint in build/embedding.
EMBEDDING := build/embedding
EMBED_TRAIN = PYTHONPATH=python OMP_NUM_THREADS=1 $(or $(TORCH_PYTHON),python3) -m foretrain_train
.PHONY: embedding embedding-report
embedding: build  ## train the embedding that is shipped, data/embeddings/: make embedding TORCH_PYTHON=python
	@$(EMBED_TRAIN).graph_set --program $(FORETRAIN) -o $(EMBEDDING)/set
	@$(EMBED_TRAIN).train --set $(EMBEDDING)/set --out $(EMBEDDING)/main.pt --until 2500
	@$(EMBED_TRAIN).embedding_file --program $(FORETRAIN) --set $(EMBEDDING)/set --checkpoint $(EMBEDDING)/main.pt \
	  -o data/embeddings/digits.json --reference tests/embedding/reference.json

embedding-report: embedding  ## what the embedding is worth, writes docs/embedding.md: make embedding-report TORCH_PYTHON=python DATA=dir MODELS=graphs
	@$(EMBED_TRAIN).train --set $(EMBEDDING)/set --out $(EMBEDDING)/targets.pt --tasks targets --until 2500
	@$(EMBED_TRAIN).compare --set $(EMBEDDING)/set -o $(EMBEDDING)/compare.json
	@$(EMBED_TRAIN).evidence --program $(FORETRAIN) --set $(EMBEDDING)/set --folder $(EMBEDDING) -o $(EMBEDDING)/evidence.json
	@python3 -B tools/write_embedding.py docs --evidence $(EMBEDDING)/evidence.json
	@$(if $(DATA),$(MAKE) -s embedding-times)

# MODELS: graphs by tools/timm_graphs.py, beside them families.csv by tools/timm_families.py. JOBS: another export of whole jobs.
.PHONY: embedding-times
embedding-times: accuracy-data build  ## times of networks never run, writes docs/embedding.md: make embedding-times DATA=dir MODELS=graphs
	@mkdir -p $(EMBEDDING)
	@python3 -B tools/embedding_times.py $(FORETRAIN) --data $(DATA) --encoders $(EMBEDDING) -o $(EMBEDDING)/times.json \
	  $(if $(MODELS),--models $(MODELS) --families $(MODELS)/families.csv) $(if $(JOBS),--jobs $(JOBS)) $(if $(ONLY),--only $(ONLY))
	@python3 -B tools/write_embedding.py docs --times $(EMBEDDING)/times.json

fuzz: packages-build packages-lint  ## fuzz each target for FUZZ_SECONDS (600), 5 s and 1 GB per input; prints a table
	@$(MAKE) -s build/fuzz/build.ninja
	@cmake --build --preset fuzz --target foretrain_fuzz
	@tools/run_fuzz.sh $(FUZZ_SECONDS)

kill: build  ## kill a running campaign KILLS (100) times: nothing may be lost or left
	@python3 tools/kill_lab.py --program $(FORETRAIN) --kills $(KILLS)

.PHONY: kill-ray
kill-ray: build  ## answer 100,000 requests on a Ray cluster, kill a worker and a node: make kill-ray RAY_PYTHON=python
	@python3 tools/kill_ray.py --program $(FORETRAIN) --python $(or $(RAY_PYTHON),python3)

.PHONY: kill-writers
kill-writers: build  ## kill every command that writes, and fill its disk, KILLS (100) times each: files stay whole
	@python3 tools/kill_writers.py --program $(FORETRAIN) --kills $(KILLS)

format: packages-lint  ## format the C++ files
	@clang-format-14 -i $(SOURCES)

check-format: packages-test  # a part of `make test` and `make lint`
	@clang-format-14 --dry-run -Werror $(SOURCES)

lint: packages-lint check-format  ## check format, names and common mistakes
	@$(MAKE) -s build/tidy/build.ninja
	@cmake --build --preset tidy

clean:  ## remove what was built
	@rm -rf build
