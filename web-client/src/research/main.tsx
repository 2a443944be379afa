// The script of the researcher's page, page thread: connects the browser to the store and renders.

import "@hyperflock/worker-runtime/polyfills";
import "../ui/base.css";
import "../ui/frame.css";
import "./research.css";
import "./operate/operate.css";
import "./trials/trials.css";
import "./plots/plots.css";
import { languages, listen, session, show } from "../ui/browser.ts";
import { ConsoleApi } from "./api.ts";
import { ResearchPage } from "./page.tsx";
import { ResearchStore } from "./research_store.ts";

const isVisible = () => document.visibilityState === "visible";

const store = new ResearchStore({
  api: (token) => new ConsoleApi(token, (path, init) => fetch(path, init)),
  tokens: session,
  hash: () => location.hash,
  onHashChange: (listener) => listen(window, "hashchange", listener),
  goTo: (hash) => {
    location.hash = hash;
  },
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  isVisible,
  onVisible: (listener) => listen(document, "visibilitychange", () => isVisible() && listener()),
  random: Math.random,
  ...languages,
});

show(<ResearchPage store={store} />);
