// Entry of the join page's stories, page thread.

import "../ui/base.css";
import "../ui/frame.css";
import "../join/join.css";
import type { Language } from "../i18n/language.ts";
import { JoinStore } from "../join/join_store.ts";
import { JoinPage } from "../join/page.tsx";
import { FakeVolunteer } from "./fake_volunteer.ts";
import {
  kAfterStart,
  kOtherCode,
  kOtherProject,
  kStoryNowMs,
  type Story,
  type StoryName,
  stories,
} from "./states.ts";
import { showStory } from "./story_page.tsx";

function storyStore(name: StoryName, language: Language): JoinStore {
  const story: Story = stories[name];
  const volunteer = new FakeVolunteer(
    {
      state: story.state,
      contribution: { trials: story.trials, seconds: story.seconds },
      project: null,
      awake: story.awake,
      interrupted: story.interrupted,
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
    hasGpu: true,
    gpuShare: 0.5,
    rememberGpuShare: () => {},
    language,
    rememberLanguage: () => {},
  });
}

void showStory(stories, (name, language) => <JoinPage store={storyStore(name, language)} />);
