// The script of the self-test page, page thread: connects the browser to the store and renders.

import "@hyperflock/worker-runtime/polyfills";
import "../ui/base.css";
import "../ui/frame.css";
import "./selftest.css";
import {
  capabilitiesOf,
  checkPython,
  checkThread,
  type ProbeScope,
  probe,
} from "@hyperflock/worker-runtime/selftest";
import { dictionaries } from "../i18n/dictionaries.ts";
import { volunteerLanguageNames } from "../i18n/language.ts";
import { readableLanguage } from "../i18n/language_choice.ts";
import { clearCode, takeCode } from "../join/enrolment_code.ts";
import { firstLanguage, remember, session, show } from "../ui/browser.ts";
import { runChecks } from "./checks.ts";
import { SelfTestPage } from "./page.tsx";
import { SelfTestStore } from "./selftest_store.ts";
import { sendReport } from "./upload.ts";
import { selfTestWords } from "./words/index.ts";

const address = { location, history, store: session };
const code = takeCode(address);
// People send pictures of this page, so the code leaves the address at once.
clearCode(address);
const { class: deviceClass, engine } = capabilitiesOf(navigator);
const store = new SelfTestStore({
  code: code.kind === "codes" ? code.codes[0] : null,
  class: deviceClass,
  engine,
  obstacle: probe(globalThis as ProbeScope),
  checkThread,
  runChecks,
  checkPython,
  send: (chosen, report) => sendReport(chosen, report, (path, init) => fetch(path, init)),
  language: await readableLanguage(firstLanguage(volunteerLanguageNames), [
    dictionaries,
    selfTestWords,
  ]),
  rememberLanguage: remember,
});

show(<SelfTestPage store={store} />);
void store.look();
