# Two commands do all set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Where trained networks are kept, and how many are trained at once.
RUNS ?= runs
WORKERS ?= 2
# The file of people's judgements, which is yours to fetch; without it `make full` leaves that page as it is.
JUDGEMENTS ?=

.PHONY: demo explore browser docs test cluster check bench full ledger golden table-concept-world table-curi table-closure table-super-clevr parsers install clean

demo: install ## a small world to look at and listen to, with its concepts, ideal learners and gaps, as a page
	@RECOMBINE_HOME=$${RECOMBINE_HOME:-out/store} $(BIN)/recombine demo --out out/demo.html
	@echo "Open out/demo.html in a browser."

explore: install ## play, write, browse and compare in the browser, on this computer alone
	@RECOMBINE_HOME=$${RECOMBINE_HOME:-out/store} $(BIN)/recombine explore $(if $(wildcard $(RUNS)),--runs $(RUNS))

SITE := zensical build
docs: install ## the documentation site, in out/site; `make docs SITE="mkdocs build"` builds it with mkdocs-material, if that is installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python experiments/site.py out/pages
	$(BIN)/$(SITE) --config-file mkdocs.yml
	@echo "Open out/site/index.html, or serve it: python3 -m http.server --directory out/site"

browser: ## Debian's chromium, with which the explorer is tested
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || sudo apt-get install --yes chromium

test: install ## the whole suite, on two cores: two processes with one thread each, since more would wait for one another
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadscope

# Ray ends a process that has lost its head; what it says then goes to the terminal only if pytest leaves that alone.
cluster: install ## every long verb on Slurm's engine and on Ray, with any number of workers, and nodes that are killed; installs Ray by itself
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[ray]'
	$(BIN)/python -m pytest -o addopts="--import-mode=importlib -q --capture=sys" -m cluster tests/cluster

.PHONY: harness
harness: install ## real runs of Inspect, lmms-eval, verifiers, TRL, ms-swift, verl and VLMEvalKit, each in an environment of its own (some GB), and docs/results/harness.md
	$(BIN)/python experiments/harness.py --out docs/results/harness.md

check: install ## format, lint, types, smoke test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_tiny.py

bench: install ## the speed of every part beside its plain reference
	$(BIN)/recombine bench curi --scale laptop --edition release
	$(BIN)/recombine bench clevr --scale laptop
	$(BIN)/recombine bench super-clevr
	$(BIN)/python experiments/render.py
	@rm -f out/photo-bench.jsonl
	$(BIN)/python experiments/photo.py --scenes 10 --kept out/photo-bench.jsonl
	$(BIN)/python experiments/vehicles.py
	$(BIN)/recombine bench concept-world --scale laptop
	$(BIN)/python experiments/concept_world_solver.py
	$(BIN)/python experiments/curi_networks.py
	$(BIN)/python experiments/closure_speed.py

full: install ## paper scale, and its report in docs/results; goes on where it was stopped
	$(BIN)/recombine report curi --scale paper --edition release --complete --out docs/results/curi.md
	$(BIN)/recombine report curi --scale paper --edition paper --out docs/results/curi-paper-edition.md
	$(BIN)/python experiments/curi_editions.py --scale paper --worlds 5 --out docs/results/ideal.md
	for edition in release paper ideal; do $(BIN)/recombine gap curi --scale paper --edition $$edition --out docs/results/data/curi-$$edition.json || exit; done
	$(BIN)/python -m pytest -o addopts="--import-mode=importlib -q" -m full tests
	$(BIN)/recombine bench curi --scale paper --edition release
	$(BIN)/recombine make clevr --scale paper
	$(BIN)/recombine report closure --scale paper --worlds 5 --out docs/results/clevr.md
	$(BIN)/recombine gap closure --scale paper --out docs/results/data/closure.json
	$(BIN)/python experiments/closure_orders.py --scale paper --out docs/results/data/closure-orders.json
	$(BIN)/recombine report concept-world --scale paper --worlds 5 --out docs/results/concept-world.md
	$(BIN)/recombine gap concept-world --scale paper --out docs/results/data/concept-world.json
	$(BIN)/recombine gap super-clevr $(foreach shift,long-to-bal long-to-head long-to-tail long-to-oppo co-1-to-co-0 co-1-to-co-2 co-2-to-co-0 co-2-to-co-1,--split $(shift)) --noise 0.2 --scale laptop --out docs/results/data/super-clevr.json
	$(if $(JUDGEMENTS),$(BIN)/recombine report human --judgements $(JUDGEMENTS) --out docs/results/human.md)
	@$(MAKE) --no-print-directory ledger

ledger: install ## what stands beside every number of the papers, and whether the gap predicts, from the pages as they are
	$(BIN)/recombine report prediction --out docs/results/prediction.md
	$(BIN)/recombine report ledger --out docs/results/ledger.md

golden: install ## what would change in tests/golden; `make golden WRITE=1` writes it
	$(BIN)/python tests/golden/compare.py $(if $(WRITE),--write)

.PHONY: fuzz kills
fuzz: install ## a million changed inputs for everything that reads, and the figures in docs/results/trust.md
	$(BIN)/python -m experiments.trust.fuzz

kills: install ## commands killed at every file operation and at random moments, and the figures in docs/results/trust.md
	$(BIN)/python -W ignore -m experiments.trust.kills

table-concept-world: install ## trains what is missing of ConceptWorld's networks, and writes their page in docs/results
	$(BIN)/recombine train concept-world --scale paper --seeds 3 --out $(RUNS) --workers $(WORKERS)
	$(BIN)/recombine table concept-world $(RUNS) --out docs/results/concept-world-networks.md

SCHEMA := --scale paper --edition release --steps 5000 --workers $(WORKERS) --out $(RUNS)
table-curi: install ## trains what is missing of CURI's networks, and writes their page in docs/results
	$(BIN)/recombine train curi --split counting --split instance-iid $(SCHEMA)
	$(BIN)/recombine train curi --split boolean --split binding-color --split concept-iid --model avg-pool --model relation-net $(SCHEMA)
	$(BIN)/recombine train curi --split counting --model avg-pool --alpha 1 $(SCHEMA)
	$(BIN)/recombine train curi --split instance-iid --model avg-pool --modality image --size 60x40 --edition release --scale small --steps 500 --validate-every 100 --episodes 200 --workers $(WORKERS) --out $(RUNS)
	$(BIN)/recombine train curi --split instance-iid --model avg-pool --modality sound --edition release --scale small --steps 300 --validate-every 100 --episodes 200 --workers $(WORKERS) --out $(RUNS)
	$(BIN)/recombine table curi $(RUNS) --out docs/results/curi-networks.md

READERS := --scale paper --out $(RUNS) --workers $(WORKERS)
table-closure: install ## trains what is missing of CLOSURE's networks, and writes their page in docs/results; many hours
	$(BIN)/recombine train closure --model span-parser $(READERS)
	for shown in 100 1000 10000 100000; do $(BIN)/recombine train closure --model span-parser --shown $$shown --seeds 3 --questions 3000 $(READERS) || exit; done
	$(BIN)/recombine train closure --model generator --seeds 5 $(READERS)
	for seed in 0 1 2 3 4; do $(BIN)/recombine train closure --split few-shot --model generator --first-seed $$seed --begin $(RUNS)/closure-zero-shot-generator-$$seed --steps 5000 $(READERS) && $(BIN)/recombine train closure --split few-shot --model generator --first-seed $$seed --begin $(RUNS)/closure-zero-shot-generator-$$seed --supervision weak --steps 10000 $(READERS) || exit; done
	$(BIN)/recombine train closure --model mac --model vector-nmn-1 --seeds 3 $(READERS)
	$(BIN)/recombine train closure --model film --model tensor-nmn --model tensor-nmn-shortcut --model tensor-nmn-film --seeds 2 $(READERS)
	$(BIN)/recombine train closure --model lstm --model cnn-lstm --steps 20000 $(READERS)
	$(BIN)/recombine table closure $(RUNS) --keep docs/results/runs/closure --out docs/results/closure-networks.md

VARIANTS := default easy hard rd- rd+ slt long co-1 co-2
table-super-clevr: install ## trains what is missing of Super-CLEVR's networks, and writes their page in docs/results; many hours
	for split in $(VARIANTS); do $(BIN)/recombine train super-clevr --split $$split --model nscl --steps 3000 --validate-every 500 $(READERS) || exit; done
	for split in $(VARIANTS); do $(BIN)/recombine train super-clevr --split $$split --model film --model lstm --model cnn-lstm $(READERS) || exit; done
	$(BIN)/recombine train super-clevr --split default --split easy --split hard --model mdetr $(READERS)
	$(BIN)/recombine table super-clevr $(RUNS) --keep docs/results/runs/super-clevr --out docs/results/super-clevr-networks.md

parsers: install ## trains the scene parsers that stand beside their benchmarks; goes on where it was stopped, about 25 minutes of CPU time each
	$(BIN)/python experiments/parsers.py clevr --runs $(RUNS) --workers $(WORKERS)
	$(BIN)/python experiments/parsers.py clevr --against super-clevr
	$(BIN)/python experiments/parsers.py super-clevr --runs $(RUNS) --workers $(WORKERS)
	$(BIN)/python experiments/parsers.py super-clevr --against clevr

table-super-clevr-symbolic: install ## trains what is missing of NSVQA's and P-NSVQA's parsers, tests them across, and writes their page in docs/results
	$(BIN)/python experiments/super_clevr_models.py train --runs $(RUNS)
	$(BIN)/python experiments/super_clevr_models.py test --runs $(RUNS)
	$(BIN)/python experiments/super_clevr_models.py page

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,explore,models,photo]'
	@touch $@

clean: ## the environment and everything that was made in this folder
	rm -rf $(VENV) out build *.egg-info
