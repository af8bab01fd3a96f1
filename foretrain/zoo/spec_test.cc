// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/detail/spec.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain::zoo {
namespace {

void expect_bad(const std::string& text, const std::string& part) {
  try {
    Spec spec(text);
    spec.take("image", 224, 32, 4096);
    spec.take("classes", 1000);
    spec.take_text("shape", "flat", {"flat", "round", "square"});
    spec.finish();
    ADD_FAILURE() << text << " did not fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput) << text;
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Spec, NameAloneTakesDefaults) {
  Spec spec("resnet50");
  EXPECT_EQ(spec.name(), "resnet50");
  EXPECT_EQ(spec.take("image", 224), 224);
  EXPECT_EQ(spec.take_text("shape", "flat", {"flat"}), "flat");
  EXPECT_NO_THROW(spec.finish());
}

TEST(Spec, ReadsParametersInAnyOrder) {
  Spec spec("gpt:hidden=1024,layers=24,shape=round");
  EXPECT_EQ(spec.name(), "gpt");
  EXPECT_EQ(spec.take("layers", 1), 24);
  EXPECT_EQ(spec.take("hidden", 1), 1024);
  EXPECT_EQ(spec.take_text("shape", "flat", {"flat", "round"}), "round");
  EXPECT_NO_THROW(spec.finish());
}

TEST(Spec, BoundsBelongToTheRange) {
  EXPECT_EQ(Spec("m:n=32").take("n", 0, 32, 64), 32);
  EXPECT_EQ(Spec("m:n=64").take("n", 0, 32, 64), 64);
  EXPECT_EQ(Spec("m:n=-3").take("n", 0, -3, 64), -3);
}

TEST(Spec, MalformedTextIsAnError) {
  expect_bad("", "has no name");
  expect_bad(":image=224", "has no name");
  expect_bad("resnet50:", "is no parameter");
  expect_bad("resnet50:image", "'image' is no parameter");
  expect_bad("resnet50:image=", "'image=' is no parameter");
  expect_bad("resnet50:=224", "'=224' is no parameter");
  expect_bad("resnet50:image=224,", "'' is no parameter");
  expect_bad("resnet50:,image=224", "'' is no parameter");
  expect_bad("resnet50:image=64,image=64", "'image' is given twice");
}

TEST(Spec, ValueThatIsNoWholeNumberIsAnError) {
  expect_bad("resnet50:image=abc", "image=abc is not a whole number");
  expect_bad("resnet50:image=22.4", "is not a whole number");
  expect_bad("resnet50:image=224px", "is not a whole number");
  expect_bad("resnet50:image= 224", "is not a whole number");
  expect_bad("resnet50:image=+224", "is not a whole number");
  expect_bad("resnet50:image=1=2", "is not a whole number");
}

TEST(Spec, ValueOutsideItsRangeIsAnError) {
  expect_bad("resnet50:image=7", "image=7 is not within 32 to 4096");
  expect_bad("resnet50:image=-224", "is not within 32 to 4096");
  expect_bad("resnet50:image=99999999999999999999", "is not within 32 to 4096");
  expect_bad("resnet50:classes=0", "classes=0 is not within 1 to ");
  expect_bad("resnet50:classes=16777217", "is not within 1 to 16777216");
}

TEST(Spec, TextThatIsNotAllowedIsAnError) {
  expect_bad("m:shape=oval", "shape=oval is not known; choose flat, round or square");
}

TEST(Spec, ParameterThatNobodyTookIsAnError) {
  expect_bad("m:imgae=224", "no parameter 'imgae'; did you mean 'image'?");
  expect_bad("m:volume=3", "it takes image, classes or shape");
  EXPECT_THROW(Spec("m:volume=3").finish(), Error);
}

TEST(Spec, MessagesStayOnOneLine) {
  expect_bad("m\nn:image=x", "model 'm\\nn'");
  expect_bad("m:image=\n", "image=\\n is not a whole number");
}

}  // namespace
}  // namespace foretrain::zoo
