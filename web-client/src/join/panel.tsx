// The panel with the one large button. It first shows what taking part costs, then what this device does. Page thread.

import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Dictionary, Notice } from "../i18n/dictionary.ts";
import type { Formatter } from "../i18n/format.ts";
import { CopyLink } from "../ui/copy_link.tsx";
import { FlyingBirds } from "../ui/flock.tsx";
import { Icon, type IconName, Spinner } from "../ui/icons.tsx";
import { ProgressBar } from "../ui/progress_bar.tsx";
import { type DownloadSize, FIRST_VISIT_BYTES, sizeText } from "./download/download.ts";
import { joinLink } from "./enrolment_code.ts";
import { linkOutside } from "./in_app.ts";
import type { JoinStore } from "./join_store.ts";
import { ProjectChoice } from "./project_choice.tsx";
import { TrialDetails } from "./trial_card.tsx";
import type { Action, ActionView, PanelView, Tone } from "./view_model.ts";

function ToneIcon({ tone }: { readonly tone: Tone }) {
  switch (tone) {
    case "ready":
      return <Icon name="done" />;
    case "busy":
      return <Spinner />;
    case "active":
      return <FlyingBirds />;
    case "paused":
      return <Icon name="pause" />;
    case "problem":
      return <Icon name="problem" />;
    default:
      return tone satisfies never;
  }
}

interface FactsProps {
  readonly download: DownloadSize | null;
  readonly words: Dictionary["facts"];
  readonly format: Formatter;
}

function Facts({ download, words, format }: FactsProps) {
  const { title, about, text, exact } = words.download;
  const amount =
    download === null
      ? about(format.size(FIRST_VISIT_BYTES))
      : sizeText(download, words.download, format);
  const rows: readonly (readonly [IconName, Notice])[] = [
    ["download", { title: title(amount), text: download === null ? text : exact }],
    ["power", words.power],
    ["screen", words.open],
    ["hand", words.stop],
  ];
  return (
    <ul class="facts">
      {rows.map(([icon, notice]) => (
        <li class="fact" key={icon}>
          <Icon name={icon} />
          <p>
            <strong>{notice.title}</strong>
            <span>{notice.text}</span>
          </p>
        </li>
      ))}
    </ul>
  );
}

function ContributionStrip({ store }: { readonly store: JoinStore }) {
  const contribution = store.contribution.value;
  const words = store.words.value.contribution;
  if (contribution === null) {
    return null;
  }
  return (
    <div class="contribution">
      <h3 class="label">{words.heading}</h3>
      <dl class="contribution-list">
        <div>
          <dt>{words.trials}</dt>
          <dd data-contribution="trials">{contribution.trials}</dd>
        </div>
        <div>
          <dt>{words.time}</dt>
          <dd>{contribution.time}</dd>
        </div>
      </dl>
      <p class="contribution-thanks">{contribution.thanks}</p>
    </div>
  );
}

/** Offers two ways to another browser: a link that opens it, if the app allows that, and the join link to copy. */
function WayOut({ view, store }: { readonly view: PanelView; readonly store: JoinStore }) {
  const words = store.words.value;
  const link = joinLink(location.origin, store.codes);
  const outside = view.inApp === null ? null : linkOutside(link, view.inApp);
  return (
    <>
      {view.inApp === null || outside === null ? null : (
        <a class="button button-main" data-action="open_outside" href={outside}>
          {words.actions.openOutside(words.inApp.browser[view.inApp.system])}
        </a>
      )}
      <CopyLink
        link={link}
        words={words.actions}
        weight={outside === null ? "button-main" : "button-quiet"}
      />
    </>
  );
}

/** Moves the keyboard's focus. A pressed button disappears, so the next heading gets the focus. */
function useFocusAfterAction(phase: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  const pressed = useRef(false);
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (pressed.current && lost) {
      heading.current?.focus();
    }
    pressed.current = false;
  }, [phase]);
  const press = () => {
    pressed.current = true;
  };
  return { heading, press };
}

function run(store: JoinStore, action: Action): void {
  switch (action) {
    case "start":
      store.start();
      break;
    case "stop":
      store.stop();
      break;
    case "pause":
      store.pause();
      break;
    case "resume":
      store.resume();
      break;
    case "finish":
      store.toggleFinish();
      break;
    case "stay":
      store.stayInApp();
      break;
    case "forget":
      store.forget();
      break;
    case "reload_project":
      void store.loadProject();
      break;
    default:
      action satisfies never;
  }
}

export function Panel({ store }: { readonly store: JoinStore }): ComponentChild {
  const view = store.panel.value;
  const words = store.words.value;
  const { heading, press } = useFocusAfterAction(view.phase);
  const { action, more } = view;
  const onPress = (kind: Action) => () => {
    press();
    run(store, kind);
  };
  const moreButton = ({ kind, label, pressed }: ActionView) => (
    <button
      type="button"
      key={kind}
      class="button button-quiet button-small"
      data-action={kind}
      aria-pressed={pressed}
      onClick={onPress(kind)}
    >
      {label}
    </button>
  );
  // Among the smaller buttons, Resume comes first and Stop last.
  const moreRow = more.length === 0 ? null : <div class="more-actions">{more.map(moreButton)}</div>;
  return (
    <section class="panel" data-phase={view.phase} data-tone={view.tone} aria-labelledby="state">
      <ProjectChoice store={store} />
      <div class="panel-head">
        {view.showFacts ? null : <ToneIcon tone={view.tone} />}
        <h2 id="state" class="panel-title" ref={heading} tabIndex={-1}>
          {view.title}
        </h2>
      </div>
      {view.showFacts ? (
        <Facts download={store.download.value} words={words.facts} format={store.format.value} />
      ) : null}
      {view.text === null ? null : <p class="panel-text">{view.text}</p>}
      {view.advice === null ? null : <p class="panel-advice">{view.advice}</p>}
      {store.notes.value.map((note) => (
        <p class="panel-advice" data-memory key={note}>
          {note}
        </p>
      ))}
      {view.steps.length === 0 ? null : (
        <ol class="steps">
          {view.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      )}
      {view.progress === null ? null : <ProgressBar label={view.title} {...view.progress} />}
      {view.trial === null ? null : (
        <TrialDetails trial={view.trial} words={words.trial} format={store.format.value} />
      )}
      <ContributionStrip store={store} />
      {view.offerLink && store.codes.length > 0 ? <WayOut view={view} store={store} /> : null}
      {action?.kind === "resume" ? null : moreRow}
      {action === null ? null : (
        <button
          type="button"
          key={action.kind}
          class={action.kind === "stop" ? "button button-quiet" : "button button-main"}
          data-action={action.kind}
          onClick={onPress(action.kind)}
        >
          {action.label}
        </button>
      )}
      {action?.kind === "resume" ? moreRow : null}
      {view.note === null ? null : <p class="panel-note">{view.note}</p>}
    </section>
  );
}
