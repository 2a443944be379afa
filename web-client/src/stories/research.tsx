// Entry of the researcher's page's stories, page thread: `research.html?story=study_running&lang=ja` shows one state, no
// query a list of them all.

import "../ui/base.css";
import "../ui/frame.css";
import "../research/research.css";
import { render } from "preact";
import { isLanguage, type Language } from "../i18n/language.ts";
import { ResearchPage } from "../research/page.tsx";
import { ResearchStore } from "../research/research_store.ts";
import { FakeConsole } from "./fake_console.ts";
import { isResearchStoryName, type ResearchStoryName, researchStories } from "./research_states.ts";

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
    after: () => () => {},
    isVisible: () => true,
    onVisible: () => () => {},
    random: () => 0.5,
    language,
    rememberLanguage: () => {},
  });
}

function Index() {
  return (
    <ul>
      {Object.keys(researchStories).map((name) => (
        <li key={name}>
          {name}: <a href={`?story=${name}&lang=en`}>English</a>{" "}
          <a href={`?story=${name}&lang=ja`}>日本語</a>
        </li>
      ))}
    </ul>
  );
}

const query = new URLSearchParams(location.search);
const name = query.get("story");
const language = query.get("lang");
const root = document.getElementById("app");
if (root !== null) {
  render(
    isResearchStoryName(name) ? (
      <ResearchPage store={storyStore(name, isLanguage(language) ? language : "en")} />
    ) : (
      <Index />
    ),
    root,
  );
}
