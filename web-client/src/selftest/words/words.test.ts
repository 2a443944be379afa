import { describeWords } from "../../i18n/words.fixture.ts";
import { selfTestWords } from "./index.ts";

describeWords("the self-test's words", selfTestWords);
