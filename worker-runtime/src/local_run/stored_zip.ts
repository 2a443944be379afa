// Makes a zip archive of one text without compression, which is the self-test's bundle. The format is PKWARE's APPNOTE 6.3,
// sections 4.3.7 (local header), 4.3.12 (central directory) and 4.3.16 (end of central directory). Pure; any thread.

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const VERSION = 20;
/** 1 January 1980, the first day that the format can express. */
const DATE = 0x21;

export function storedZip(name: string, text: string): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const file = encoder.encode(name);
  const content = encoder.encode(text);
  const centralAt = LOCAL_BYTES + file.length + content.length;
  const endAt = centralAt + CENTRAL_BYTES + file.length;
  const bytes = new Uint8Array(endAt + END_BYTES);
  const view = new DataView(bytes.buffer);
  const checksum = crc32(content);
  const facts = (at: number) => {
    view.setUint16(at, VERSION, true);
    view.setUint16(at + 8, DATE, true);
    view.setUint32(at + 10, checksum, true);
    view.setUint32(at + 14, content.length, true);
    view.setUint32(at + 18, content.length, true);
    view.setUint16(at + 22, file.length, true);
  };
  view.setUint32(0, LOCAL, true);
  facts(4);
  bytes.set(file, LOCAL_BYTES);
  bytes.set(content, LOCAL_BYTES + file.length);
  view.setUint32(centralAt, CENTRAL, true);
  view.setUint16(centralAt + 4, VERSION, true);
  facts(centralAt + 6);
  bytes.set(file, centralAt + CENTRAL_BYTES);
  view.setUint32(endAt, END, true);
  view.setUint16(endAt + 8, 1, true);
  view.setUint16(endAt + 10, 1, true);
  view.setUint32(endAt + 12, CENTRAL_BYTES + file.length, true);
  view.setUint32(endAt + 16, centralAt, true);
  return bytes;
}

/** Returns the checksum for a zip: CRC-32 with the polynomial 0xedb88320, lowest bits first. */
function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
