#!/usr/bin/env bash
# Make the environment for fuzzing in fuzz/.venv: atheris, which needs CPython 3.11 to 3.13 on Linux or macOS, and the
# packages that sardonyx uses for arrays.
#
#   PYTHON=python3.11 fuzz/setup.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
"${PYTHON:-python3}" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check atheris numpy ml_dtypes
.venv/bin/python -c 'import atheris, sys; print("atheris is ready on Python", sys.version.split()[0])'
