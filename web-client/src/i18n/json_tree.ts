// Parses JSON into a tree that keeps each number as it was written, and writes it for people. A tuple of Python is sent
// as `{"()": [...]}`, and a dict with this one key as `{"()": {...}}` (protocol.md, R5). Page thread; pure.

export type JsonTree =
  | { readonly kind: "scalar"; readonly token: string }
  | { readonly kind: "list"; readonly items: readonly JsonTree[] }
  | { readonly kind: "object"; readonly members: readonly Member[] };

/** The name as JSON text, with its quotes. */
export type Member = readonly [name: string, value: JsonTree];

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[^\s",:[\]{}]+|[[\]{}:,])/y;
const TAG = '"()"';

/** Returns the tree of a text that `JSON.parse` accepts. */
export function jsonTree(text: string): JsonTree {
  let at = 0;

  function take(): string {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1] ?? "";
    at = TOKEN.lastIndex;
    return token;
  }

  /** Reads items with `read` until the closing bracket. Returns the items. */
  function until<T>(closing: string, read: (first: string) => T): T[] {
    const found: T[] = [];
    for (let token = take(); token !== closing && token !== ""; token = take()) {
      found.push(read(token === "," ? take() : token));
    }
    return found;
  }

  function member(name: string): Member {
    take(); // the colon
    return [name, tree(take())];
  }

  function tree(token: string): JsonTree {
    switch (token) {
      case "[":
        return { kind: "list", items: until("]", tree) };
      case "{":
        return { kind: "object", members: until("}", member) };
      default:
        return { kind: "scalar", token };
    }
  }

  return tree(take());
}

/** Returns the tree as plain JSON, in which a tuple is a list. */
export function plainJson(tree: JsonTree): string {
  return written(tree, (items) => `[${items.join(",")}]`, ",", ":");
}

/** Returns the tree as text for people: a tuple is in parentheses, and a space follows each comma. */
export function readableJson(tree: JsonTree): string {
  return written(
    tree,
    (items) => `(${items.join(", ")}${items.length === 1 ? "," : ""})`,
    ", ",
    ": ",
  );
}

function written(
  tree: JsonTree,
  tuple: (items: readonly string[]) => string,
  comma: string,
  colon: string,
): string {
  const inner = (one: JsonTree): string => written(one, tuple, comma, colon);
  const object = (members: readonly Member[]): string =>
    `{${members.map(([name, value]) => name + colon + inner(value)).join(comma)}}`;
  switch (tree.kind) {
    case "scalar":
      return tree.token;
    case "list":
      return `[${tree.items.map(inner).join(comma)}]`;
    case "object": {
      const [first] = tree.members;
      if (tree.members.length !== 1 || first === undefined || first[0] !== TAG) {
        return object(tree.members);
      }
      const [, tagged] = first;
      return tagged.kind === "list"
        ? tuple(tagged.items.map(inner))
        : object(tagged.kind === "object" ? tagged.members : tree.members);
    }
    default:
      return tree satisfies never;
  }
}
