import { describeWords } from "../../i18n/words.fixture.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { ja } from "./ja.ts";
import { zh } from "./zh.ts";

describeWords("the self-test's words", { en, es, ja, zh });
