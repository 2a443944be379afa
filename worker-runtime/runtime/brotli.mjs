// Compresses with Brotli by Node's own library, so that packing the runtime needs no further package. Called by
// packing.py:
//   node brotli.mjs QUALITY < plain > packed
// Node.js, main thread.
import { readFileSync, writeSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const plain = readFileSync(0);
const packed = brotliCompressSync(plain, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: Number(process.argv[2]),
    // The largest window that browsers accept, because archives repeat content at large distances.
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  },
});
for (let sent = 0; sent < packed.length; ) sent += writeSync(1, packed, sent);
