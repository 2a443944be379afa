// The button that makes the server forget this device. It asks for confirmation first. Page thread.

import { useEffect, useRef, useState } from "preact/hooks";
import type { JoinStore } from "./join_store.ts";

export function ForgetDevice({ store }: { readonly store: JoinStore }) {
  const words = store.words.value.forget;
  const [asks, setAsks] = useState(false);
  const question = useRef<HTMLParagraphElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  // The pressed button has disappeared, so the keyboard's focus moves to the question, or back to the first button.
  useEffect(() => {
    if (asks) {
      question.current?.focus();
    } else if (wasAsking.current) {
      opener.current?.focus();
    }
    wasAsking.current = asks;
  }, [asks]);
  if (!store.canForget) {
    return null;
  }
  if (!asks) {
    return (
      <div class="forget">
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="forget_ask"
          ref={opener}
          onClick={() => setAsks(true)}
        >
          {store.isMemory ? store.words.value.memory.forget : words.ask}
        </button>
      </div>
    );
  }
  return (
    <div class="forget">
      <p class="forget-question" ref={question} tabIndex={-1}>
        {words.question}
      </p>
      <div class="more-actions">
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="forget_cancel"
          onClick={() => setAsks(false)}
        >
          {words.cancel}
        </button>
        <button
          type="button"
          class="button button-quiet button-small"
          data-action="forget"
          onClick={() => {
            setAsks(false);
            store.forget();
          }}
        >
          {words.confirm}
        </button>
      </div>
    </div>
  );
}
