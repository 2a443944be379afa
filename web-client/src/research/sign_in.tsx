// The form in which the researcher enters the token. Page thread.

import { useSignal } from "@preact/signals";
import type { ResearchStore } from "./research_store.ts";
import { problemText } from "./view_model.ts";

export function SignIn({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value;
  const token = useSignal("");
  const problem = store.problem.value;
  const checking = store.session.value.kind === "checking";
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void store.signIn(token.value);
  };
  return (
    <section class="card sign-in" data-view="sign_in">
      <h1 tabIndex={-1}>{words.signIn.heading}</h1>
      <p class="lead">{words.signIn.lead}</p>
      <form onSubmit={onSubmit}>
        <label class="field-label" for="token">
          {words.signIn.token}
        </label>
        <input
          id="token"
          class="field"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={token.value}
          aria-describedby={problem === null ? "token-hint" : "token-problem token-hint"}
          aria-invalid={problem === null ? undefined : true}
          onInput={(event) => {
            token.value = event.currentTarget.value;
          }}
        />
        {problem === null ? null : (
          <p class="field-problem" id="token-problem" data-problem={problem.code}>
            {problemText(problem, words)}
          </p>
        )}
        <p class="field-hint" id="token-hint">
          {words.signIn.hint}
        </p>
        <button
          type="submit"
          class="button button-main"
          data-action="sign_in"
          aria-disabled={checking}
        >
          {words.signIn.button}
        </button>
      </form>
    </section>
  );
}
