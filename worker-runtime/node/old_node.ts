// Lets Vitest print failed tests on Node 20. Each Vitest configuration imports this file. Node, main thread.
//
// Vitest 5 formats failures with Map.groupBy, which Node 20 lacks. Vitest would then print an error of its own and none of the
// failures. `./run` uses Node 24, and package.json asks for at least 22.18. This file is for tests that are started by hand.

function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

if (!("groupBy" in Map)) Reflect.set(Map, "groupBy", groupBy);
