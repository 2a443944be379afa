// The script of the join page's stories (see story_page.tsx), page thread.

import "../ui/base.css";
import "../ui/frame.css";
import "../join/join.css";
import "../join/given/given.css";
import "../join/limits.css";
import "../join/night.css";
import "../app_shell/app_notes.css";
import { signal } from "@preact/signals";
import { InstallHint } from "../app_shell/install_hint.ts";
import { dictionaries } from "../i18n/dictionaries.ts";
import { type VolunteerLanguage, volunteerLanguageNames } from "../i18n/language.ts";
import { readableLanguage } from "../i18n/language_choice.ts";
import { downloadSize, NOTHING_KEPT } from "../join/download/download.ts";
import { JoinStore } from "../join/join_store.ts";
import { type AppParts, JoinPage } from "../join/page.tsx";
import { PassphrasePart } from "../join/passphrase/passphrase_part.ts";
import { PassphraseStore } from "../join/passphrase/passphrase_store.ts";
import { FakeVolunteer } from "./fake_volunteer.ts";
import {
  AFTER_START,
  OTHER_CODE,
  OTHER_PROJECT,
  PROJECT,
  STORY_NOW_MS,
  type Story,
  type StoryName,
  stories,
} from "./states.ts";
import { showStory } from "./story_page.tsx";

function storyPassphrase({ together, passphrase }: Story): PassphrasePart {
  let drawn = 0;
  const unreachable = { kind: "problem", problem: "unreachable" } as const;
  const kept = { key: "7".repeat(64), devices: [] };
  const storage = {
    getItem: () => (together === null ? null : JSON.stringify(kept)),
    setItem: () => {},
    removeItem: () => {},
  };
  const store = new PassphraseStore({
    storage,
    authorizations: async () => (passphrase === "no_device" ? [] : ["Device a:b"]),
    fetchTogether: async () =>
      together === null ? unreachable : { kind: "answer", answer: together },
    join: async () => ({ kind: "answer", answer: true }),
    loadWords: async () => (await import("../join/passphrase/word_list.ts")).wordList,
    fillRandom: (numbers) => numbers.fill(drawn++ * 150),
  });
  if (passphrase === "entry") void store.restore("correct horse battery staple");
  else if (passphrase !== "closed") void store.make();
  const part = new PassphrasePart(storage, async () => store);
  void part.refresh();
  return part;
}

function storyStore(name: StoryName, language: VolunteerLanguage): JoinStore {
  const story: Story = stories[name];
  const volunteer = new FakeVolunteer(
    {
      state: story.state,
      contribution: { trials: story.trials, seconds: story.seconds },
      project: null,
      awake: story.awake,
      interrupted: story.interrupted,
      finishing: story.finishing,
      cooling: story.cooling,
    },
    AFTER_START,
  );
  const { code, before, earlierName, damaged, refusesStorage } = story;
  const codes = before === null || code.kind !== "codes" ? [] : code.codes;
  return new JoinStore({
    code,
    memory: {
      atOpening: {
        projects: codes.map((one) => {
          const { name, owner } = one === OTHER_CODE ? OTHER_PROJECT : PROJECT;
          return { code: one, name: one === OTHER_CODE ? name : earlierName, owner, usedAt: 0 };
        }),
        damaged,
      },
      deviceOf: async () => ({
        hasDevice: before !== null,
        contribution: before ?? { trials: 0, seconds: 0 },
      }),
      remember: async () => !refusesStorage,
      forget: async () => {},
      isKept: async () => false,
      clearAddress: () => {},
    },
    createVolunteer: () => volunteer,
    fetchProject: async (code) =>
      code === OTHER_CODE ? { kind: "ready", project: OTHER_PROJECT } : story.load,
    downloadSize: (downloads) => downloadSize(downloads, NOTHING_KEPT),
    fetchGiven: async (code) => story.given[code] ?? null,
    passphrase: storyPassphrase(story),
    now: () => STORY_NOW_MS,
    after: () => {},
    every: () => () => {},
    online: story.online,
    onOnlineChange: () => () => {},
    inApp: story.inApp,
    hasGpu: true,
    gpuShare: 0.5,
    rememberGpuShare: () => {},
    limits: story.limits,
    rememberLimits: () => {},
    reports: { battery: true, connection: true },
    language,
    rememberLanguage: () => {},
  });
}

function storyApp(name: StoryName): AppParts {
  const { hint, hasNewVersion }: Story = stories[name];
  const store = { getItem: () => null, setItem: () => {} };
  const install = new InstallHint({
    isInApp: false,
    isInstalled: false,
    isIosSafari: hint === "ios",
    store,
  });
  if (hint === "button") {
    const outcome = Promise.resolve({ outcome: "dismissed" as const });
    const offer = { prompt: async () => {}, userChoice: outcome };
    install.offered(Object.assign(new Event("beforeinstallprompt"), offer));
  }
  const clock = { date: () => new Date(2026, 10, 21, 23, 41), every: () => () => {} };
  return { shell: { hasNewVersion: signal(hasNewVersion) }, install, reload: () => {}, clock };
}

void showStory(stories, volunteerLanguageNames, async (name, wanted) => {
  const language = await readableLanguage(wanted, [dictionaries]);
  return <JoinPage store={storyStore(name, language)} app={storyApp(name)} />;
});
