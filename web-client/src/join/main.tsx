// Entry of the join page, page thread: wires the browser to the store and renders.

import "../ui/base.css";
import "../ui/frame.css";
import "./join.css";
import { createVolunteer } from "@hyperflock/worker-runtime/page";
import { render } from "preact";
import { preferredLanguage, rememberedLanguage, rememberLanguage } from "../i18n/language.ts";
import { takeCode } from "./enrolment_code.ts";
import { inAppBrowser } from "./in_app.ts";
import { JoinStore } from "./join_store.ts";
import { JoinPage } from "./page.tsx";
import { fetchProject } from "./project_api.ts";

/** Storage by getter: where cookies are blocked, naming `localStorage` throws already. */
const local = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, value),
};
const session = {
  getItem: (key: string) => sessionStorage.getItem(key),
  setItem: (key: string, value: string) => sessionStorage.setItem(key, value),
};

const store = new JoinStore({
  code: takeCode({ location, history, store: session }),
  createVolunteer,
  fetchProject: (code) => fetchProject(code, (path, init) => fetch(path, init)),
  now: () => performance.timeOrigin + performance.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  },
  online: navigator.onLine,
  onOnlineChange: (tell) => {
    const listener = () => tell(navigator.onLine);
    addEventListener("online", listener);
    addEventListener("offline", listener);
    return () => {
      removeEventListener("online", listener);
      removeEventListener("offline", listener);
    };
  },
  inApp: inAppBrowser(navigator.userAgent),
  language: rememberedLanguage(local) ?? preferredLanguage(navigator.languages),
  rememberLanguage: (language) => rememberLanguage(local, language),
});

// Another join link opened in this tab changes the fragment only: begin again with its code.
addEventListener("hashchange", () => location.reload());

const root = document.getElementById("app");
if (root !== null) {
  render(<JoinPage store={store} />, root);
}
