// Shows a view whose script is loaded when it is first needed. Page thread.

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ResearchStore } from "../research_store.ts";

interface ViewProps {
  readonly store: ResearchStore;
}
type View = FunctionComponent<ViewProps>;

interface Props extends ViewProps {
  /** Loads the view's script. A browser keeps it, so a further call takes no time. */
  readonly load: () => Promise<View>;
}

export function Loaded({ load, store }: Props) {
  const [shown, setShown] = useState<View | "loading" | "failed">("loading");
  useEffect(() => {
    let isHere = true;
    const show = (view: View | "failed") => {
      if (isHere) {
        setShown(() => view);
      }
    };
    load().then(show, () => show("failed"));
    return () => {
      isHere = false;
    };
  }, [load]);
  const words = store.words.value;
  if (shown === "loading") {
    return (
      <p class="quiet" data-loading>
        {words.loading}
      </p>
    );
  }
  if (shown === "failed") {
    // After an upgrade of the server the old script is gone. A reload brings the new page.
    return (
      <section class="card stack" data-problem="script">
        <p>{words.parts.failed}</p>
        <div class="button-row">
          <button type="button" class="button button-quiet" onClick={() => location.reload()}>
            {words.parts.reload}
          </button>
        </div>
      </section>
    );
  }
  const Shown = shown;
  return <Shown store={store} />;
}
