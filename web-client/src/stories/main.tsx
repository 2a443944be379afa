// Entry of the stories, page thread: `?story=computing&lang=ja` shows one state, no query a list of them all.

import "../ui/base.css";
import "../join/join.css";
import { render } from "preact";
import { isLanguage } from "../i18n/language.ts";
import { JoinStore } from "../join/join_store.ts";
import { JoinPage } from "../join/page.tsx";
import { FakeVolunteer } from "./fake_volunteer.ts";
import {
  isStoryName,
  kAfterStart,
  kStoryNowMs,
  type Story,
  type StoryName,
  stories,
} from "./states.ts";

function StoryPage({
  name,
  language,
}: {
  readonly name: StoryName;
  readonly language: "en" | "ja";
}) {
  const story: Story = stories[name];
  const volunteer = new FakeVolunteer(
    {
      state: story.state,
      contribution: { trials: story.trials, seconds: story.seconds },
      project: null,
      awake: story.awake,
    },
    kAfterStart,
  );
  const store = new JoinStore({
    code: story.code,
    createVolunteer: () => volunteer,
    fetchProject: async () => story.load,
    now: () => kStoryNowMs,
    every: () => () => {},
    language,
    rememberLanguage: () => {},
  });
  return <JoinPage store={store} />;
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
      <StoryPage name={name} language={isLanguage(language) ? language : "en"} />
    ) : (
      <Index />
    ),
    root,
  );
}
