// Entry of the researcher's page, page thread: wires the browser to the store and renders.

import "../ui/base.css";
import "../ui/frame.css";
import "./research.css";
import { render } from "preact";
import { preferredLanguage, rememberedLanguage, rememberLanguage } from "../i18n/language.ts";
import { ConsoleApi } from "./api.ts";
import { ResearchPage } from "./page.tsx";
import { ResearchStore } from "./research_store.ts";

/** Storage by getter: where cookies are blocked, naming `localStorage` throws already. */
const local = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
};
const session = {
  getItem: (key: string) => sessionStorage.getItem(key),
  setItem: (key: string, value: string) => sessionStorage.setItem(key, value),
  removeItem: (key: string) => sessionStorage.removeItem(key),
};

function listen(target: EventTarget, event: string, listener: () => void): () => void {
  target.addEventListener(event, listener);
  return () => target.removeEventListener(event, listener);
}

const isVisible = () => document.visibilityState === "visible";

const store = new ResearchStore({
  api: (token) => new ConsoleApi(token, (path, init) => fetch(path, init)),
  tokens: session,
  hash: () => location.hash,
  onHashChange: (listener) => listen(window, "hashchange", listener),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  isVisible,
  onVisible: (listener) => listen(document, "visibilitychange", () => isVisible() && listener()),
  random: Math.random,
  language: rememberedLanguage(local) ?? preferredLanguage(navigator.languages),
  rememberLanguage: (language) => rememberLanguage(local, language),
});

const root = document.getElementById("app");
if (root !== null) {
  render(<ResearchPage store={store} />, root);
}
