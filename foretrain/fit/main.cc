// SPDX-License-Identifier: Apache-2.0
// foretrain-fit: what `foretrain fit` runs. Its own program, so that the libraries for fitting do
// not slow down the start of predictions.
#include "foretrain/fit/run.h"

int main(int count, char** arguments) { return foretrain::fit::run(count, arguments); }
