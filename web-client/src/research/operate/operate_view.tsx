// What administrators of the server see and change: what waits, people with their quotas, projects, bars, ceilings
// and shares (R67, R68, R70). Page thread.

import { useEffect, useRef } from "preact/hooks";
import { hashOf } from "../model/route.ts";
import type { ResearchStore } from "../research_store.ts";
import { Awaiting } from "./awaiting.tsx";
import { Barred } from "./barred.tsx";
import { Ceilings } from "./ceilings.tsx";
import type { Props } from "./parts.tsx";
import { People } from "./people.tsx";
import { Projects } from "./projects.tsx";
import { Shares } from "./shares.tsx";
import { Warnings } from "./warnings.tsx";

/** What has the focus, and the card that it is in. */
interface FocusPlace {
  readonly element: Element;
  readonly card: Element | null;
}

/**
 * Returns a handler that notes what has the focus. If an answer of the server removes it, as the button of a study that
 * no longer waits, the heading of its section gets the focus. So the keyboard stays where the reader acted.
 */
function useFocusInSection(store: ResearchStore) {
  const operated = store.operated.value;
  const lastFocus = useRef<FocusPlace | null>(null);
  useEffect(() => {
    if (lastFocus.current?.element.isConnected === false) {
      if (document.activeElement === document.body) {
        lastFocus.current.card?.querySelector<HTMLElement>("h2")?.focus();
      }
      lastFocus.current = null;
    }
  }, [operated]);
  return (event: Event) => {
    const element = event.target as Element;
    lastFocus.current = { element, card: element.closest("section.card") };
  };
}

export function OperateView({ store }: Props) {
  const words = store.words.value;
  const operated = store.operated.value;
  const noteFocus = useFocusInSection(store);
  return (
    <div class="stack" data-view="operate" onFocusIn={noteFocus}>
      <nav>
        <a class="back" href={hashOf({ page: "studies" })}>
          {words.study.back}
        </a>
      </nav>
      <h1 tabIndex={-1}>{words.operate.heading}</h1>
      <p class="lead">{words.operate.lead}</p>
      {operated === null ? (
        <p class="quiet">{words.loading}</p>
      ) : (
        <>
          <Warnings store={store} codes={operated.warnings} />
          <Awaiting store={store} studies={operated.awaiting} />
          <People store={store} operated={operated} />
          <Projects store={store} projects={operated.projects} />
          <Barred store={store} barred={operated.barred} />
          <Ceilings store={store} ceilings={operated.ceilings} />
          <Shares store={store} shares={operated.shares} />
        </>
      )}
    </div>
  );
}
