// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/law_terms.h"

#include <gtest/gtest.h>

namespace foretrain::embedding {
namespace {

// Terms of 1, 2, 3 ... seconds.
JobFeatures job(const std::string& precision) {
  JobFeatures job;
  for (std::size_t i = 0; i < term_names().size(); ++i) job.terms.push_back(double(i + 1));
  job.words.assign(word_fields().size(), "same");
  job.words[1] = precision;
  return job;
}

TEST(LawTerms, OfAGroupCountInThatGroupAlone) {
  const JobFeatures half = job("fp16");
  const JobFeatures full = job("fp32");
  const std::vector<const JobFeatures*> both{&half, &full};
  const std::vector<std::size_t> precision{1};
  const std::vector<LawTerm> terms = law_terms_by(precision, both);
  const std::size_t count = term_names().size() + 1;
  ASSERT_EQ(terms.size(), 2 * count);
  const std::vector<double> values = values_of(terms, full);
  EXPECT_EQ(values[1], 0);              // fp16's second term
  EXPECT_EQ(values[count + 1], 2);      // fp32's
  EXPECT_EQ(values[2 * count - 1], 1);  // its constant
  std::vector<double> all = half.terms;
  all.push_back(1);
  EXPECT_EQ(values_of(law_terms_by({}, both), half), all);
}

TEST(LawTerms, AreKnownByTheirNames) {
  const LawTerm term{3, {{0, "rtx-3090"}, {5, "one worker"}}};
  EXPECT_EQ(name_of(term), "conv@device=rtx-3090&strategy=one worker");
  const auto read = law_term_named(name_of(term));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->term, term.term);
  EXPECT_EQ(read->when, term.when);
  EXPECT_EQ(law_term_named("conv")->when.size(), 0U);
  EXPECT_EQ(name_of(*law_term_named("once")), "once");
  const LawTerm odd{0, {{0, "a&b=c@100%"}, {1, ""}}};
  EXPECT_EQ(law_term_named(name_of(odd))->when, odd.when);
  for (const char* name : {"", "magic", "conv@", "conv@device", "conv@magic=1", "@device=t4",
                           "conv@device=%", "conv@device=%7", "conv@device=t4&"}) {
    EXPECT_FALSE(law_term_named(name)) << name;
  }
}

}  // namespace
}  // namespace foretrain::embedding
