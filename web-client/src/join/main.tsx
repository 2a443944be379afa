// The script of the join page, page thread: connects the browser to the store and renders.

import "@hyperflock/worker-runtime/polyfills";
import "../ui/base.css";
import "../ui/frame.css";
import "./join.css";
import "./given/given.css";
import "./limits.css";
import "./night.css";
import "../app_shell/app_notes.css";
import { createVolunteer, ProjectMemory, reportsOf } from "@hyperflock/worker-runtime/page";
import { AppShell } from "../app_shell/app_shell.ts";
import { InstallHint, type InstallOffer, isIosSafari } from "../app_shell/install_hint.ts";
import { dictionaries } from "../i18n/dictionaries.ts";
import { volunteerLanguageNames } from "../i18n/language.ts";
import { readableLanguage } from "../i18n/language_choice.ts";
import { firstLanguage, listen, local, remember, session, show } from "../ui/browser.ts";
import { downloadSize, NOTHING_KEPT } from "./download/download.ts";
import { keptHere } from "./download/kept_here.ts";
import { clearCode, dropTabCode, joinLink, takeCode } from "./enrolment_code.ts";
import { fetchGiven } from "./given/given_api.ts";
import { rememberedGpuShare, rememberGpuShare } from "./gpu_share.ts";
import { inAppBrowser } from "./in_app.ts";
import { JoinStore } from "./join_store.ts";
import { rememberedLimits, rememberLimits } from "./limits_view.ts";
import { JoinPage } from "./page.tsx";
import { PassphrasePart } from "./passphrase/passphrase_part.ts";
import { fetchProject } from "./project_api.ts";
import { isKept, recall } from "./recall.ts";

const isInstalled = matchMedia("(display-mode: standalone)").matches;
const inApp = inAppBrowser(navigator.userAgent, isInstalled);
const isIos = isIosSafari(navigator.userAgent, navigator.maxTouchPoints);
const install = new InstallHint({
  isInApp: inApp !== null,
  isInstalled,
  isIosSafari: isIos,
  store: local,
});
addEventListener("beforeinstallprompt", (event) => install.offered(event as InstallOffer));
addEventListener("appinstalled", () => install.dismiss());

const shell = new AppShell({
  container: navigator.serviceWorker,
  locks: navigator.locks,
  caches: globalThis.caches,
  fetch: (path, init) => fetch(path, init),
  entry: new URL(import.meta.url).pathname,
  now: () => performance.now(),
});
addEventListener("pagehide", () => shell.letGo());
addEventListener("pageshow", () => shell.hold());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") void shell.lookAgain();
});

const address = { location, history, store: session };
const memory = new ProjectMemory(local);
const [{ code, memories }, language] = await Promise.all([
  recall(takeCode(address), memory),
  readableLanguage(firstLanguage(volunteerLanguageNames), [dictionaries]),
]);
if (memories.projects.length > 0) void shell.keep();

// An app on the home screen of iOS has a storage of its own. So the icon needs the code in its address, and no manifest,
// whose address would be used instead.
if (isIos) {
  document.querySelector("link[rel=manifest]")?.remove();
  if (code.kind === "codes") history.replaceState(null, "", joinLink(location.origin, code.codes));
}

const every = (ms: number, tick: () => void) => {
  const timer = setInterval(tick, ms);
  return () => clearInterval(timer);
};

const passphrase = new PassphrasePart(local, async () => {
  const { passphraseStore } = await import("./passphrase/browser_store.ts");
  return passphraseStore(local, async () => {
    // A project that this browser could not remember may have a device, too.
    const { projects } = await memory.list();
    const codes = new Set(projects.map((project) => project.code));
    if (code.kind === "codes") for (const one of code.codes) codes.add(one);
    const all = await Promise.all([...codes].map((one) => memory.authorizationOf(one)));
    return all.filter((authorization) => authorization !== null);
  });
});
void passphrase.refresh();

const store = new JoinStore({
  code,
  memory: {
    atOpening: memories,
    deviceOf: (one) => memory.deviceOf(one),
    remember: async (project) => {
      const isRemembered = await memory.remember(project);
      if (isRemembered) void shell.keep();
      return isRemembered;
    },
    forget: async (one) => {
      dropTabCode(address);
      await memory.forget(one);
      const { projects } = await memory.list();
      if (projects.length === 0) {
        passphrase.forget();
        await shell.forget();
      }
    },
    isKept: async (ask) => (await isKept(navigator.storage, ask)) && !isIos,
    clearAddress: () => clearCode(address),
  },
  createVolunteer,
  fetchProject: (one) => fetchProject(one, (path, init) => fetch(path, init)),
  // A browser that has started nothing here has kept nothing, and need not be searched.
  downloadSize: (downloads) =>
    downloadSize(downloads, memories.projects.length > 0 ? keptHere : NOTHING_KEPT),
  fetchGiven: async (one) => {
    const authorization = await memory.authorizationOf(one);
    if (authorization === null) return null;
    await passphrase.link(authorization);
    void passphrase.refresh();
    return fetchGiven(authorization, (path, init) => fetch(path, init));
  },
  passphrase,
  now: () => performance.timeOrigin + performance.now(),
  after: (ms, run) => setTimeout(run, ms),
  every,
  online: navigator.onLine,
  onOnlineChange: (tell) => {
    const events = ["online", "offline"];
    const stops = events.map((event) => listen(window, event, () => tell(navigator.onLine)));
    return () => {
      for (const stop of stops) stop();
    };
  },
  inApp,
  hasGpu: "gpu" in navigator,
  gpuShare: rememberedGpuShare(local),
  rememberGpuShare: (share) => rememberGpuShare(local, share),
  limits: rememberedLimits(local),
  rememberLimits: (limits) => rememberLimits(local, limits),
  reports: reportsOf(navigator),
  language,
  rememberLanguage: remember,
});

// Another join link that is opened in this tab changes only the fragment. So the page starts again with the new code.
addEventListener("hashchange", () => location.reload());

const clock = { date: () => new Date(), every };
const app = { shell, install, reload: () => location.reload(), clock };
show(<JoinPage store={store} app={app} />);
