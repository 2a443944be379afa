import { describeWords } from "../../i18n/words.fixture.ts";
import { researchWords } from "./index.ts";

describeWords("the researcher's words", researchWords, {
  sameEverywhere: [
    "/operate/people/usedOf()",
    "/front/near()",
    "/plots/rank/part()",
    "/plots/timeline/count()",
    "/ranges/chosen()",
    "/table/cell()",
  ],
});
