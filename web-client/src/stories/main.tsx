// Entry of the stories, page thread: `?story=computing&lang=ja` shows one state, no query a list of them all.

import "../ui/base.css";
import "../ui/frame.css";
import "../join/join.css";
import { render } from "preact";
import { isLanguage, type Language } from "../i18n/language.ts";
import { JoinStore } from "../join/join_store.ts";
import { JoinPage } from "../join/page.tsx";
import { FakeVolunteer } from "./fake_volunteer.ts";
import {
  isStoryName,
  kAfterStart,
  kOtherCode,
  kOtherProject,
  kStoryNowMs,
  type Story,
  type StoryName,
  stories,
} from "./states.ts";

/** Outside of any component: what reads signals while it renders is rendered again when they change. */
function storyStore(name: StoryName, language: Language): JoinStore {
  const story: Story = stories[name];
  const volunteer = new FakeVolunteer(
    {
      state: story.state,
      contribution: { trials: story.trials, seconds: story.seconds },
      project: null,
      awake: story.awake,
      finishing: story.finishing,
    },
    kAfterStart,
  );
  return new JoinStore({
    code: story.code,
    createVolunteer: () => volunteer,
    fetchProject: async (code) =>
      code === kOtherCode ? { kind: "ready", project: kOtherProject } : story.load,
    now: () => kStoryNowMs,
    every: () => () => {},
    online: story.online,
    onOnlineChange: () => () => {},
    inApp: story.inApp,
    language,
    rememberLanguage: () => {},
  });
}

function Index() {
  return (
    <ul>
      {Object.keys(stories).map((name) => (
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
    isStoryName(name) ? (
      <JoinPage store={storyStore(name, isLanguage(language) ? language : "en")} />
    ) : (
      <Index />
    ),
    root,
  );
}
