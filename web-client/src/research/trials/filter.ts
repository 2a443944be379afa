// The language in which a reader filters trials, such as `value < 0.1 and optimizer in ["Adam", "SGD"]`. It is a small part
// of Python: comparisons (also chained), `in`, `not in`, `and`, `or`, `not` and parentheses. Names are those of the CSV
// export. Nothing is ever evaluated as a script. Page thread; pure.

/** The longest expression, in characters, and the deepest nesting. */
export const MAX_CHARS = 1_000;
const MAX_DEPTH = 32;

export const filterCodes = [
  "too_long",
  "too_deep",
  "unexpected",
  "unfinished_text",
  "ends_early",
  "unknown_name",
] as const;
export type FilterCode = (typeof filterCodes)[number];

/** Thrown for an expression that is not understood. */
export class FilterError extends Error {
  readonly code: FilterCode;
  /** Where in the expression the problem begins, in characters from 0. */
  readonly at: number;
  /** The part that was not understood. */
  readonly what: string;

  constructor(code: FilterCode, at: number, what: string) {
    super(`${code} at ${at}: ${what}`);
    this.code = code;
    this.at = at;
    this.what = what;
  }
}

type Compare = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Operand =
  | { readonly kind: "name"; readonly name: string; readonly at: number }
  | { readonly kind: "constant"; readonly value: unknown };

export type Expression =
  | { readonly kind: "and" | "or"; readonly parts: readonly Expression[] }
  | { readonly kind: "not"; readonly part: Expression }
  | { readonly kind: "true"; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly how: Compare;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "within"; readonly part: Operand; readonly whole: Operand };

interface Token {
  readonly kind: "name" | "number" | "text" | "sign" | "end";
  /** The name, the text without its quotes, or the sign as it was written. */
  readonly text: string;
  readonly at: number;
  /** Whether a name was in backquotes, so that it is no keyword. */
  readonly quoted?: boolean;
}

const SPACE = /\s*/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const NAME = /[\p{L}_][\p{L}\p{N}_.]*/uy;
const SIGN = /==|!=|<=|>=|[<>=()[\],-]/y;
const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["True", true],
  ["true", true],
  ["False", false],
  ["false", false],
  ["None", null],
  ["null", null],
  ["missing", undefined],
  ["inf", Number.POSITIVE_INFINITY],
]);
const KEYWORDS: ReadonlySet<string> = new Set(["and", "or", "not", "in", ...CONSTANTS.keys()]);
const COMPARES: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ["=", "=="],
  ...(["==", "!=", "<", "<=", ">", ">="] as const).map((sign) => [sign, sign] as const),
]);

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  for (match(SPACE); at < source.length; match(SPACE)) {
    const begin = at;
    const first = source[at] as string;
    if (first === '"' || first === "'" || first === "`") {
      let text = "";
      for (at += 1; source[at] !== first; at += 1) {
        if (at >= source.length) {
          throw new FilterError("unfinished_text", begin, source.slice(begin));
        }
        at += source[at] === "\\" && first !== "`" ? 1 : 0;
        text += source[at] ?? "";
      }
      at += 1;
      tokens.push({
        ...{ kind: first === "`" ? "name" : "text", text, at: begin },
        ...(first === "`" ? { quoted: true } : {}),
      });
      continue;
    }
    const number = match(NUMBER);
    const name = number === null ? match(NAME) : null;
    const text = number ?? name ?? match(SIGN);
    if (text === null) {
      const what = String.fromCodePoint(source.codePointAt(at) ?? 0);
      throw new FilterError("unexpected", at, what);
    }
    const kind = number !== null ? "number" : name !== null ? "name" : "sign";
    tokens.push({ kind, text, at: begin });
  }
  return [...tokens, { kind: "end", text: "", at: source.length }];
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    this.#tokens = tokensOf(source);
  }

  whole(): Expression {
    const found = this.#or();
    if (this.#token.kind !== "end") {
      this.#refuse();
    }
    return found;
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #refuse(): never {
    const { kind, text, at } = this.#token;
    throw kind === "end"
      ? new FilterError("ends_early", at, "")
      : new FilterError("unexpected", at, text);
  }

  /** Takes the next token if it is the given sign or keyword. */
  #takes(text: string): boolean {
    const token = this.#token;
    const isWord = token.kind === "name" && token.quoted !== true;
    if (token.text !== text || !(token.kind === "sign" || isWord)) {
      return false;
    }
    this.#next += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#takes(text)) {
      this.#refuse();
    }
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      throw new FilterError("too_deep", this.#token.at, this.#token.text);
    }
    const found = read();
    this.#depth -= 1;
    return found;
  }

  #joined(word: "and" | "or", read: () => Expression): Expression {
    const first = read();
    const parts = [first];
    while (this.#takes(word)) {
      parts.push(read());
    }
    return parts.length === 1 ? first : { kind: word, parts };
  }

  #or(): Expression {
    return this.#joined("or", () => this.#joined("and", () => this.#not()));
  }

  #not(): Expression {
    if (this.#takes("not")) {
      return { kind: "not", part: this.#nested(() => this.#not()) };
    }
    if (this.#takes("(")) {
      const inner = this.#nested(() => this.#or());
      this.#expect(")");
      return inner;
    }
    return this.#comparison();
  }

  #comparison(): Expression {
    let left = this.#operand();
    const parts: Expression[] = [];
    for (;;) {
      const how = this.#token.kind === "sign" ? COMPARES.get(this.#token.text) : undefined;
      if (how !== undefined) {
        this.#next += 1;
        const right = this.#operand();
        parts.push({ kind: "compare", how, left, right });
        left = right;
      } else if (parts.length === 0 && this.#takes("in")) {
        return this.#membership(left);
      } else if (parts.length === 0 && this.#takes("not")) {
        this.#expect("in");
        return { kind: "not", part: this.#membership(left) };
      } else {
        break;
      }
    }
    const [first] = parts;
    if (first === undefined) {
      return { kind: "true", operand: left };
    }
    return parts.length === 1 ? first : { kind: "and", parts };
  }

  #membership(operand: Operand): Expression {
    const closing = this.#takes("[") ? "]" : this.#takes("(") ? ")" : null;
    if (closing === null) {
      return { kind: "within", part: operand, whole: this.#operand() };
    }
    const list: Operand[] = [];
    while (!this.#takes(closing)) {
      list.push(this.#operand());
      if (!this.#takes(",")) {
        this.#expect(closing);
        break;
      }
    }
    return { kind: "in", operand, list };
  }

  #operand(): Operand {
    const isNegative = this.#takes("-");
    const { kind, text, at, quoted } = this.#token;
    const constant = (value: unknown): Operand => {
      this.#next += 1;
      return { kind: "constant", value };
    };
    if (kind === "number" || (kind === "name" && text === "inf" && quoted !== true)) {
      const size = kind === "number" ? Number(text) : Number.POSITIVE_INFINITY;
      return constant(isNegative ? -size : size);
    }
    if (isNegative) {
      this.#refuse();
    }
    if (kind === "text") {
      return constant(text);
    }
    if (kind !== "name") {
      this.#refuse();
    }
    if (quoted !== true && CONSTANTS.has(text)) {
      return constant(CONSTANTS.get(text));
    }
    if (quoted !== true && KEYWORDS.has(text)) {
      this.#refuse();
    }
    this.#next += 1;
    return { kind: "name", name: text, at };
  }
}

/** Returns the parsed expression. Throws FilterError. */
export function parsed(source: string): Expression {
  if (source.length > MAX_CHARS) {
    throw new FilterError("too_long", MAX_CHARS, String(source.length));
  }
  return new Parser(source).whole();
}

/** Reads a cell of a row. */
export type Read<Row> = (row: Row) => unknown;
export type Predicate<Row> = (row: Row) => boolean;

function compares(how: Exclude<Compare, "==" | "!=">, x: unknown, y: unknown): boolean {
  const isAlike =
    (typeof x === "number" && typeof y === "number") ||
    (typeof x === "string" && typeof y === "string");
  if (!isAlike) {
    return false;
  }
  switch (how) {
    case "<":
      return x < y;
    case "<=":
      return x <= y;
    case ">":
      return x > y;
    case ">=":
      return x >= y;
    default:
      return how satisfies never;
  }
}

/**
 * Returns the predicate of an expression. `==` holds for values that are the same, of the same kind; an order holds only
 * between two numbers or two texts. `resolve` returns how a name is read, or null for a name that there is not; then this
 * throws FilterError.
 */
export function compiled<Row>(
  expression: Expression,
  resolve: (name: string) => Read<Row> | null,
): Predicate<Row> {
  const reader = (operand: Operand): Read<Row> => {
    if (operand.kind === "constant") {
      return () => operand.value;
    }
    const read = resolve(operand.name);
    if (read === null) {
      throw new FilterError("unknown_name", operand.at, operand.name);
    }
    return read;
  };
  const predicate = (one: Expression): Predicate<Row> => {
    switch (one.kind) {
      case "and": {
        const parts = one.parts.map(predicate);
        return (row) => parts.every((part) => part(row));
      }
      case "or": {
        const parts = one.parts.map(predicate);
        return (row) => parts.some((part) => part(row));
      }
      case "not": {
        const part = predicate(one.part);
        return (row) => !part(row);
      }
      case "true": {
        const read = reader(one.operand);
        return (row) => read(row) === true;
      }
      case "compare": {
        const { how } = one;
        const [left, right] = [reader(one.left), reader(one.right)];
        if (how === "==" || how === "!=") {
          const wanted = how === "==";
          return (row) => (left(row) === right(row)) === wanted;
        }
        return (row) => compares(how, left(row), right(row));
      }
      case "in": {
        const read = reader(one.operand);
        const list = one.list.map(reader);
        return (row) => {
          const value = read(row);
          return list.some((item) => item(row) === value);
        };
      }
      case "within": {
        const [part, whole] = [reader(one.part), reader(one.whole)];
        return (row) => {
          const [small, large] = [part(row), whole(row)];
          return typeof small === "string" && typeof large === "string" && large.includes(small);
        };
      }
      default:
        return one satisfies never;
    }
  };
  return predicate(expression);
}
