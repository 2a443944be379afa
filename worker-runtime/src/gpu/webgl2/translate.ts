// Turns generated code into GLSL ES 3.00. The code is in the language of array-core/src/codegen/shader_types.h: a part of
// WGSL that differs from GLSL only in its words and in the order of names and types. So code generation, operations and
// helper functions exist once for both languages. It is here and not in array-core's module, because only devices with
// WebGL2 need it. Pure; any thread.

/** Names that helper functions use and that GLSL reserves. They get an underscore. */
const RESERVED = new Set([
  "active",
  "common",
  "filter",
  "half",
  "input",
  "output",
  "sample",
  "resource",
  "smooth",
]);

interface Token {
  /** The white space before it. */
  readonly space: string;
  /** A name, a number, or one character. */
  readonly text: string;
}

/** A number in hexadecimal, another number with the sign of its exponent, a name, or any other character. */
const TOKEN = /([ \n]*)(0x\w*|[0-9](?:e[-+]|[\w.])*|\w+|[^ \n])?/gy;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [whole, space = "", token = ""] of text.matchAll(TOKEN))
    if (whole !== "") tokens.push({ space, text: token });
  return tokens;
}

const SCALARS = new Map([
  ["f32", "float"],
  ["i32", "int"],
  ["u32", "uint"],
]);
const VECTOR_LETTERS = new Map([
  ["int", "i"],
  ["uint", "u"],
]);

/** A type and, for an array, its number of elements. */
interface Type {
  readonly name: string;
  readonly length: string;
}

class Translator {
  readonly #tokens: Token[];
  #out = "";
  #loops = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  run(): string {
    this.#range(0, this.#tokens.length);
    return this.#out;
  }

  #text(i: number): string {
    return this.#tokens[i]?.text ?? "";
  }

  #space(i: number): string {
    return this.#tokens[i]?.space ?? "";
  }

  #beginsType(i: number): boolean {
    const text = this.#text(i);
    const isLong = text === "vec2" || text === "vec4" || text === "array";
    return SCALARS.has(text) || (isLong && this.#text(i + 1) === "<");
  }

  /** Returns the type at token `i`, and the index of the token behind it. */
  #type(i: number): readonly [Type, number] {
    const first = this.#text(i);
    const scalar = SCALARS.get(first);
    if (scalar !== undefined) return [{ name: scalar, length: "" }, i + 1];
    if (!this.#beginsType(i)) return [{ name: first, length: "" }, i + 1];
    const [element, after] = this.#type(i + 2);
    // After an array's type come the comma, the length and the closing bracket.
    if (first === "array")
      return [{ name: element.name, length: this.#text(after + 1) }, after + 3];
    return [{ name: `${VECTOR_LETTERS.get(element.name) ?? ""}${first}`, length: "" }, after + 1];
  }

  /** Returns the index of the bracket that closes the one at `i`. */
  #closing(i: number): number {
    let depth = 0;
    for (let at = i; at < this.#tokens.length; at += 1) {
      if (this.#text(at) === "{") depth += 1;
      if (this.#text(at) === "}") depth -= 1;
      if (depth === 0) return at;
    }
    return this.#tokens.length - 1;
  }

  #range(begin: number, end: number): void {
    for (let i = begin; i < end; ) i = this.#one(i);
  }

  // Translates what begins at token `i`. Returns the index of the next token.
  #one(i: number): number {
    const text = this.#text(i);
    switch (text) {
      case "fn":
        return this.#function(i);
      case "struct":
        return this.#structure(i);
      case "let":
      case "var":
        return this.#variable(i);
      case "loop":
        return this.#loop(i);
      case "break":
        if (this.#text(i + 1) === "if") return this.#breakIf(i);
        break;
      case "bitcast": {
        const [{ name }, after] = this.#type(i + 2);
        this.#out += `${this.#space(i)}as_${name}`;
        return after + 1;
      }
    }
    if (this.#beginsType(i)) {
      const [{ name, length }, after] = this.#type(i);
      this.#out += this.#space(i) + name + (length === "" ? "" : `[${length}]`);
      if (this.#text(after) !== "(" || this.#text(after + 1) !== ")") return after;
      this.#out += "(0)";
      return after + 2;
    }
    if (text === "bool" && this.#text(i + 1) === "(" && this.#text(i + 2) === ")") {
      this.#out += `${this.#space(i)}false`;
      return i + 3;
    }
    const isInt = /^\d.*i$/.test(text);
    this.#out += this.#space(i) + (isInt ? text.slice(0, -1) : nameOf(text));
    return i + 1;
  }

  #function(i: number): number {
    const given: string[] = [];
    let at = i + 3;
    while (this.#text(at) !== ")") {
      const [{ name }, after] = this.#type(at + 2);
      given.push(`${name} ${nameOf(this.#text(at))}`);
      at = this.#text(after) === "," ? after + 1 : after;
    }
    at += 1;
    let result = "void";
    if (this.#text(at) === "-") {
      const [{ name }, after] = this.#type(at + 2);
      result = name;
      at = after;
    }
    this.#out += `${this.#space(i)}${result} ${this.#text(i + 1)}(${given.join(", ")})`;
    return at;
  }

  #structure(i: number): number {
    this.#out += `${this.#space(i)}struct ${this.#text(i + 1)} {`;
    let at = i + 3;
    while (this.#text(at) !== "}") {
      const [{ name }, after] = this.#type(at + 2);
      this.#out += ` ${name} ${nameOf(this.#text(at))};`;
      at = this.#text(after) === "," ? after + 1 : after;
    }
    this.#out += " };";
    return at + 1;
  }

  #variable(i: number): number {
    const isGlobal = this.#text(i + 1) === "<";
    const at = i + (isGlobal ? 4 : 1);
    const name = nameOf(this.#text(at));
    const isKnown = this.#beginsType(at + 2) || this.#text(at + 2) === "bool";
    const [type, after] = this.#type(at + 2);
    this.#out += `${this.#space(i)}${type.name} ${name}`;
    if (type.length !== "") this.#out += `[${type.length}]`;
    if (isGlobal || this.#text(after) !== ";" || !isKnown) return after;
    // A variable without a value begins as 0.
    this.#out +=
      type.length === ""
        ? ` = ${type.name}(0)`
        : `; for (int zero = 0; zero < ${type.length}; ++zero) ${name}[zero] = ${type.name}(0)`;
    return after;
  }

  // What `continuing` has runs before each turn but the first, so that `continue` leads to it.
  #loop(i: number): number {
    const end = this.#closing(i + 1);
    let turn = end;
    let depth = 0;
    for (let at = i + 1; at < end; at += 1) {
      if (this.#text(at) === "{") depth += 1;
      if (this.#text(at) === "}") depth -= 1;
      if (depth === 1 && this.#text(at) === "continuing") turn = at;
    }
    if (turn === end) {
      this.#out += `${this.#space(i)}while (true)`;
      this.#range(i + 1, end);
    } else {
      const again = `again${this.#loops}`;
      this.#loops += 1;
      this.#out += `${this.#space(i)}for (bool ${again} = false; ; ${again} = true) {`;
      this.#out += `${this.#space(turn)}if (${again}) {`;
      this.#range(turn + 2, this.#closing(turn + 1));
      this.#out += `${this.#space(turn)}}`;
      this.#range(i + 2, turn);
    }
    this.#out += `${this.#space(end)}}`;
    return end + 1;
  }

  #breakIf(i: number): number {
    let end = i + 2;
    while (this.#text(end) !== ";") end += 1;
    this.#out += `${this.#space(i)}if (`;
    this.#tokens[i + 2] = { space: "", text: this.#text(i + 2) };
    this.#range(i + 2, end);
    this.#out += ") { break; }";
    return end + 1;
  }
}

const nameOf = (name: string): string => (RESERVED.has(name) ? `${name}_` : name);

/** Returns the GLSL of `text`, which is in the language of codegen/shader_types.h. */
export function translate(text: string): string {
  return new Translator(text).run();
}

const overloads = (types: string): string =>
  types
    .split(" ")
    .map((t) => `${t} select(${t} no, ${t} yes, bool which) { return which ? yes : no; }\n`)
    .join("");

/** What GLSL ES 3.00 lacks, by name. */
const MISSING: readonly (readonly [name: string, text: string])[] = [
  ["select", overloads("bool int uint float vec2 uvec2")],
  [
    "as_uint",
    `uint as_uint(float x) { return floatBitsToUint(x); }
uint as_uint(int x) { return uint(x); }
uint as_uint(uint x) { return x; }
`,
  ],
  [
    "as_int",
    `int as_int(float x) { return floatBitsToInt(x); }
int as_int(uint x) { return int(x); }
int as_int(int x) { return x; }
`,
  ],
  [
    "as_float",
    `float as_float(uint x) { return uintBitsToFloat(x); }
float as_float(int x) { return intBitsToFloat(x); }
float as_float(float x) { return x; }
`,
  ],
  ["as_uvec2", "uvec2 as_uvec2(vec2 x) { return floatBitsToUint(x); }\n"],
  ["as_vec2", "vec2 as_vec2(uvec2 x) { return uintBitsToFloat(x); }\n"],
  [
    "countOneBits",
    `uint countOneBits(uint x) {
  x -= (x >> 1u) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2u) & 0x33333333u);
  return (((x + (x >> 4u)) & 0x0f0f0f0fu) * 0x01010101u) >> 24u;
}
`,
  ],
  [
    "countLeadingZeros",
    `uint countLeadingZeros(uint x) {
  if (x == 0u) { return 32u; }
  uint zeros = 0u;
  if (x < 0x00010000u) { zeros += 16u; x <<= 16u; }
  if (x < 0x01000000u) { zeros += 8u; x <<= 8u; }
  if (x < 0x10000000u) { zeros += 4u; x <<= 4u; }
  if (x < 0x40000000u) { zeros += 2u; x <<= 2u; }
  return x < 0x80000000u ? zeros + 1u : zeros;
}
`,
  ],
  ["fma", "float fma(float a, float b, float c) { return a * b + c; }\n"],
];

/** Returns the functions that GLSL ES 3.00 lacks and that translated code uses. */
export function missingFunctions(translated: string): string {
  return MISSING.filter(([name]) => new RegExp(`\\b${name}\\(`).test(translated))
    .map(([, text]) => text)
    .join("");
}

/** The lines between the parts of a pass (array-core/src/codegen/glsl/glsl.h). */
const PARTS = /^([\s\S]*?)\/\/translate\n([\s\S]*?)\/\/main\n([\s\S]*)$/;

/** Returns the GLSL of a pass: its middle part is translated. A text without parts is GLSL as it is. */
export function glslOf(pass: string): string {
  const parts = PARTS.exec(pass);
  if (parts === null) return pass;
  const [, head = "", code = "", main = ""] = parts;
  const translated = translate(code);
  return head + missingFunctions(translated) + translated + main;
}
