// The self-test page's state, as signals, and the actions of its buttons. The browser is passed in, so that stories and
// tests can use findings of their own. Page thread.

import type { UnsupportedReason } from "@hyperflock/worker-runtime/page";
import type { PythonCheck } from "@hyperflock/worker-runtime/selftest";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { dictionaries } from "../i18n/dictionaries.ts";
import type { Dictionary } from "../i18n/dictionary.ts";
import { Formatter } from "../i18n/format.ts";
import type { VolunteerLanguage } from "../i18n/language.ts";
import { LanguageChoice } from "../i18n/language_choice.ts";
import { type Check, type CheckName, checkNames, type Finding, finding } from "./finding.ts";
import type { Report, Sent } from "./upload.ts";
import type { SelfTestWords } from "./words/dictionary.ts";
import { selfTestWords } from "./words/index.ts";

export interface SelfTestEnvironment {
  /** The join link's code. Without one (null), no report can be sent. */
  readonly code: string | null;
  readonly class: string;
  readonly engine: string;
  /** The reason why this page cannot take part; null if it can. */
  readonly obstacle: UnsupportedReason | null;
  /** Returns the reason why a thread cannot take part; null if it can. Rejects if no thread answers. */
  readonly checkThread: () => Promise<UnsupportedReason | null>;
  readonly runChecks: (tell: (name: CheckName, found: Finding) => void) => Promise<void>;
  readonly checkPython: (
    onLoading: (loaded: number, total: number) => void,
  ) => Promise<PythonCheck>;
  readonly send: (code: string, report: Report) => Promise<Sent>;
  /** The language at the start. The texts of both pages in it must be here. */
  readonly language: VolunteerLanguage;
  readonly rememberLanguage: (language: VolunteerLanguage) => void;
}

export type PythonPhase =
  | { readonly kind: "not_run" }
  | { readonly kind: "runs"; readonly loaded: number; readonly total: number }
  | { readonly kind: "done" };

export type SendPhase = { readonly kind: "not_sent" } | { readonly kind: "sending" } | Sent;

const NOT_YET = finding("skipped");

export class SelfTestStore {
  readonly choice: LanguageChoice;
  readonly words: ReadonlySignal<SelfTestWords>;
  /** The texts of the join page, for the sentences that both pages say. */
  readonly pageWords: ReadonlySignal<Dictionary>;
  readonly format: ReadonlySignal<Formatter>;
  /** The checks with their findings, in the order of the table. */
  readonly checks: ReadonlySignal<readonly Check[]>;
  /** The reason why this browser cannot take part, as the join page gives it; null if it can. */
  readonly obstacle: Signal<UnsupportedReason | null>;
  /** Whether all checks are done, except the check of Python. */
  readonly isLooked: Signal<boolean> = signal(false);
  readonly python: Signal<PythonPhase> = signal({ kind: "not_run" });
  readonly sending: Signal<SendPhase> = signal({ kind: "not_sent" });
  readonly environment: SelfTestEnvironment;
  readonly #findings: Signal<ReadonlyMap<CheckName, Finding>> = signal(new Map());

  constructor(environment: SelfTestEnvironment) {
    this.environment = environment;
    this.obstacle = signal(environment.obstacle);
    this.choice = new LanguageChoice(
      environment.language,
      [dictionaries, selfTestWords],
      environment.rememberLanguage,
    );
    this.words = computed(() => selfTestWords.of(this.choice.language.value));
    this.pageWords = computed(() => dictionaries.of(this.choice.language.value));
    this.format = computed(() => new Formatter(this.words.value.tag));
    this.checks = computed(() =>
      checkNames.map((name) => ({ name, ...(this.#findings.value.get(name) ?? NOT_YET) })),
    );
  }

  /** Runs the checks that need no download. The page calls this without a tap. */
  async look(): Promise<void> {
    await Promise.all([
      this.environment.runChecks((name, found) => this.#tell(name, found)),
      this.#lookAtThread(),
    ]);
    this.isLooked.value = true;
  }

  /** Fetches the runtime and runs the check of Python. Must be called from a tap. */
  async runPython(): Promise<void> {
    if (this.python.value.kind === "runs") {
      return;
    }
    this.python.value = { kind: "runs", loaded: 0, total: 0 };
    const check = await this.environment.checkPython((loaded, total) => {
      this.python.value = { kind: "runs", loaded, total };
    });
    this.#tell("numpy", numpyFinding(check));
    this.python.value = { kind: "done" };
  }

  /** Sends the report. Must be called from a tap. */
  async send(): Promise<void> {
    const { code, class: deviceClass, engine } = this.environment;
    if (code === null || this.sending.value.kind === "sending") {
      return;
    }
    this.sending.value = { kind: "sending" };
    const report = { class: deviceClass, engine, checks: this.checks.value };
    this.sending.value = await this.environment.send(code, report);
  }

  /** A page without an obstacle starts threads, which may have one. */
  async #lookAtThread(): Promise<void> {
    if (this.environment.obstacle !== null) {
      return;
    }
    try {
      const reason = await this.environment.checkThread();
      this.obstacle.value = reason;
      this.#tell("thread", finding(reason === null ? "ok" : "missing", reason ?? ""));
    } catch (error) {
      this.#tell("thread", finding("failed", String(error)));
    }
  }

  #tell(name: CheckName, found: Finding): void {
    this.#findings.value = new Map(this.#findings.value).set(name, found);
  }
}

function numpyFinding(check: PythonCheck): Finding {
  const times = `${check.waitsBy}, ${check.loadMs} ms + ${check.runMs} ms`;
  return check.isRight
    ? finding("ok", times)
    : finding("failed", `${check.code}: ${check.message} (${times})`);
}
