// The script of the researcher's page's stories, page thread: `research.html?story=study_running&lang=ja`.

import "../ui/base.css";
import "../ui/frame.css";
import "../research/research.css";
import "../research/operate/operate.css";
import "../research/trials/trials.css";
import "../research/plots/plots.css";
import { type Language, languageNames } from "../i18n/language.ts";
import { ResearchPage } from "../research/page.tsx";
import { ResearchStore } from "../research/research_store.ts";
import { FakeConsole } from "./fake_console.ts";
import { type ResearchStoryName, researchStories } from "./research_states.ts";
import { showStory } from "./story_page.tsx";

function storyStore(name: ResearchStoryName, language: Language): ResearchStore {
  const { hash, token, rows } = researchStories[name];
  history.replaceState(null, "", hash);
  const kept = new Map<string, string>(token === null ? [] : [["hyperflock.token", token]]);
  const api = new FakeConsole(rows);
  return new ResearchStore({
    api: () => api,
    tokens: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    },
    hash: () => location.hash,
    onHashChange: (listener) => {
      addEventListener("hashchange", listener);
      return () => removeEventListener("hashchange", listener);
    },
    goTo: (hash) => {
      location.hash = hash;
    },
    after: () => () => {},
    isVisible: () => true,
    onVisible: () => () => {},
    random: () => 0.5,
    language,
    rememberLanguage: () => {},
  });
}

void showStory(researchStories, languageNames, (name, language) => (
  <ResearchPage store={storyStore(name, language)} />
));
