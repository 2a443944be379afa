// The script of the self-test page's stories, page thread: `selftest.html?story=poor&lang=ja`.

import "../ui/base.css";
import "../ui/frame.css";
import "../selftest/selftest.css";
import { dictionaries } from "../i18n/dictionaries.ts";
import { type VolunteerLanguage, volunteerLanguageNames } from "../i18n/language.ts";
import { readableLanguage } from "../i18n/language_choice.ts";
import type { CheckName, Finding } from "../selftest/finding.ts";
import { SelfTestPage } from "../selftest/page.tsx";
import { SelfTestStore } from "../selftest/selftest_store.ts";
import { selfTestWords } from "../selftest/words/index.ts";
import { type SelfTestStory, type SelfTestStoryName, selfTestStories } from "./selftest_states.ts";
import { showStory } from "./story_page.tsx";

const never = () => new Promise<never>(() => {});

async function storyStore(
  name: SelfTestStoryName,
  language: VolunteerLanguage,
): Promise<SelfTestStore> {
  const story: SelfTestStory = selfTestStories[name];
  const { sent } = story;
  const store = new SelfTestStore({
    code: story.code,
    class: "phone",
    engine: "chromium 150",
    obstacle: story.obstacle,
    checkThread: async () => null,
    runChecks: async (tell) => {
      for (const [check, found] of Object.entries(story.findings)) {
        tell(check as CheckName, found as Finding);
      }
      if (name === "looking") await never();
    },
    checkPython: async (onLoading) => {
      onLoading(4_310_000, 9_870_000);
      if (story.python === "loading") await never();
      const isRight = story.python === "right";
      const code = isRight ? null : "out_of_memory";
      const message = isRight ? "" : "Python has no memory left.";
      return { isRight, code, message, waitsBy: "shared memory", loadMs: 4_200, runMs: 31 };
    },
    send: async () => (sent === "sending" || sent === null ? await never() : sent),
    language,
    rememberLanguage: () => {},
  });
  const looked = store.look();
  if (name !== "looking") await looked;
  if (story.python !== "not_run") {
    const run = store.runPython();
    if (story.python !== "loading") await run;
  }
  if (sent !== null) {
    const sending = store.send();
    if (sent !== "sending") await sending;
  }
  return store;
}

void showStory(selfTestStories, volunteerLanguageNames, async (name, wanted) => {
  const language = await readableLanguage(wanted, [dictionaries, selfTestWords]);
  return <SelfTestPage store={await storyStore(name, language)} />;
});
