// The join page. It shows whose project this is, what taking part costs and one button; after the tap, what this device
// does. Page thread.

import { AppNotes } from "../app_shell/app_notes.tsx";
import type { AppShell } from "../app_shell/app_shell.ts";
import type { InstallHint } from "../app_shell/install_hint.ts";
import { Frame, useDocument } from "../ui/frame.tsx";
import { LanguageList } from "../ui/language_list.tsx";
import { ProgressBar } from "../ui/progress_bar.tsx";
import { ForgetDevice } from "./forget_device.tsx";
import { GivenPanel } from "./given/given_panel.tsx";
import { GpuShareChoice } from "./gpu_share_choice.tsx";
import type { JoinStore } from "./join_store.ts";
import { LimitsPanel } from "./limits_panel.tsx";
import { Night, type NightClock } from "./night.tsx";
import { Panel } from "./panel.tsx";
import { PassphrasePanel } from "./passphrase/passphrase_panel.tsx";

interface Props {
  readonly store: JoinStore;
}

/** The page as an app of this browser. */
export interface AppParts {
  readonly shell: Pick<AppShell, "hasNewVersion">;
  readonly install: InstallHint;
  readonly reload: () => void;
  readonly clock: NightClock;
}

function Intro({ store }: Props) {
  const words = store.words.value.intro;
  const names = store.names.value;
  return (
    <section class="intro">
      <p class="eyebrow">{words.eyebrow}</p>
      <h1>{names === null ? words.headingWhileLoading : words.heading(names.name)}</h1>
      {names === null ? null : <p class="lead">{words.what(names.owner, names.name)}</p>}
      {store.isMemory ? null : <p class="lead">{words.sandbox}</p>}
    </section>
  );
}

interface AboutProps extends Props {
  readonly app: AppParts;
  /** Whether this device takes part now. */
  readonly isJoined: boolean;
}

function About({ store, app, isJoined }: AboutProps) {
  const words = store.words.value;
  const project = store.project.value;
  const format = store.format.value;
  return (
    <section class="about">
      {isJoined ? <Night store={store} clock={app.clock} /> : null}
      <AppNotes
        words={words.app}
        hasNewVersion={app.shell.hasNewVersion}
        install={app.install}
        reload={app.reload}
        isResting={store.isResting.value}
        takesPart={store.takesPart.value}
      />
      {project === null ? null : (
        <div class="project">
          <h2 class="label">{words.project.heading}</h2>
          <p class="project-name">
            <strong>{project.name}</strong>
            <span>
              {words.project.runBy(project.owner)} ·{" "}
              {words.project.studies(project.studies, format.integer(project.studies))}
            </span>
          </p>
          {project.trialsTotal === 0 ? (
            <p>{words.project.noTrials}</p>
          ) : (
            <ProgressBar
              label={words.project.heading}
              fraction={Math.min(1, project.trialsDone / project.trialsTotal)}
              text={words.project.progress(
                format.integer(project.trialsDone),
                format.integer(project.trialsTotal),
              )}
            />
          )}
        </div>
      )}
      <GivenPanel view={store.given.value} words={words.given} />
      <PassphrasePanel
        part={store.passphrase}
        language={store.choice.language.value}
        format={format}
        summary={words.passphrase}
        failed={words.projectProblems.unreachable.title}
      />
      <GpuShareChoice store={store} />
      <LimitsPanel store={store} />
      <details class="privacy">
        <summary>{words.privacy.summary}</summary>
        <ul>
          {words.privacy.items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
        {store.isMemory ? null : <ForgetDevice store={store} />}
      </details>
      {store.isMemory ? <ForgetDevice store={store} /> : null}
    </section>
  );
}

export function JoinPage({ store, app }: Props & { readonly app: AppParts }) {
  useDocument(() => ({ tag: store.words.value.tag, title: store.title.value }));
  const { trial, action, more, announcement } = store.panel.value;
  const joined =
    trial !== null || action?.kind === "stop" || more.some(({ kind }) => kind === "stop");
  return (
    <Frame
      languages={<LanguageList choice={store.choice} words={store.words.value} />}
      announcement={announcement}
    >
      <main class={joined ? "layout is-joined" : "layout"}>
        <Intro store={store} />
        <Panel store={store} />
        <About store={store} app={app} isJoined={joined} />
      </main>
      <footer class="colophon">
        <a class="colophon-link" href="/selftest">
          {store.words.value.selfTest}
        </a>
        <p>{store.words.value.footer}</p>
        {store.words.value.notReviewed === undefined ? null : (
          <p>{store.words.value.notReviewed}</p>
        )}
      </footer>
    </Frame>
  );
}
