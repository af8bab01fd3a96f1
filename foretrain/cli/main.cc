// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/run.h"

int main(int count, char** arguments) { return foretrain::cli::run(count, arguments); }
