// The researcher's page. It shows the form to sign in, then the list of studies, one study, or one trial. Page thread.

import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Frame, OtherLanguage, useDocument } from "../ui/frame.tsx";
import { Icon } from "../ui/icons.tsx";
import { shownName } from "../ui/shown_name.ts";
import { hashOf } from "./model/route.ts";
import { OperateView } from "./operate/operate_view.tsx";
import type { Problem, ResearchStore } from "./research_store.ts";
import { SignIn } from "./sign_in.tsx";
import { StudiesView } from "./studies_view.tsx";
import { StudyView } from "./study_view.tsx";
import { TrialView } from "./trial_view.tsx";
import { announcementOf, problemText, titleOf } from "./view_model.ts";

interface Props {
  readonly store: ResearchStore;
}

/** Shows who is signed in, and the button to sign out. */
function SignedIn({ store }: Props): ComponentChild {
  const words = store.words.value.signIn;
  const session = store.session.value;
  if (session.kind !== "in") {
    return null;
  }
  return (
    <>
      {session.me.role === "admin" ? (
        <a class="text-link" data-action="operate" href={hashOf({ page: "operate" })}>
          {store.words.value.operate.link}
        </a>
      ) : null}
      <span class="signed-in">{words.signedInAs(shownName(session.me.name))}</span>
      <button type="button" class="language" data-action="sign_out" onClick={() => store.signOut()}>
        {words.signOut}
      </button>
    </>
  );
}

/** Shows problems above the content, which may be old while the server does not answer. */
function ProblemBars({ store }: Props) {
  const words = store.words.value;
  const bar = (problem: Problem | null, advice: string) =>
    problem === null ? null : (
      <p class="problem-bar" data-problem={problem.code}>
        <Icon name="problem" />
        <span>
          {problemText(problem, words)} {advice}
          {problem.requestId === undefined ? null : (
            <small class="request-id">{words.requestId(problem.requestId)}</small>
          )}
        </span>
      </p>
    );
  return (
    <>
      {bar(store.refusal.value, "")}
      {bar(store.problem.value, words.askingAgain)}
    </>
  );
}

function View({ store }: Props): ComponentChild {
  const route = store.route.value;
  switch (route.page) {
    case "studies":
      return <StudiesView store={store} />;
    case "operate":
      return <OperateView store={store} />;
    case "study":
      return <StudyView store={store} />;
    case "trial":
      return <TrialView store={store} />;
    default:
      return route satisfies never;
  }
}

/** Gives the keyboard's focus to the page's heading when another view is shown. */
function useFocusOnView(key: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current !== key) {
      shown.current = key;
      main.current?.querySelector<HTMLElement>("h1")?.focus();
      scrollTo(0, 0);
    }
  }, [key]);
  return main;
}

export function ResearchPage({ store }: Props) {
  useDocument(() => {
    const { tag, pageTitle } = store.words.value;
    return { tag, title: pageTitle(titleOf(store)) };
  });
  const session = store.session.value;
  const words = store.words.value;
  const signedIn = session.kind === "in";
  const main = useFocusOnView(signedIn ? hashOf(store.route.value) : "sign in");
  // This is a button, because a link would change the fragment, which is the page's route.
  const skip = (
    <button
      type="button"
      class="skip"
      onClick={() => main.current?.querySelector<HTMLElement>("h1")?.focus()}
    >
      {words.skip}
    </button>
  );
  return (
    <Frame
      languages={
        <OtherLanguage
          language={store.language.value}
          onLanguage={(language) => store.setLanguage(language)}
        />
      }
      announcement={announcementOf(store)}
      skip={skip}
      side={<SignedIn store={store} />}
    >
      <main class={signedIn ? "desk" : "desk is-narrow"} ref={main}>
        {signedIn ? <ProblemBars store={store} /> : null}
        {signedIn ? <View store={store} /> : <SignIn store={store} />}
      </main>
    </Frame>
  );
}
