// The numbers of array-core's command ring: control words, opcodes, states, errors. They are the same as in
// array-core/src/ring/commands.h, which explains each; layout.test.ts compares the two. Data for any thread.

export const MAGIC = 0x31524341;
export const CONTROL_WORDS = 352;
export const ERROR_TEXT_BYTES = 512;
export const DEVICE_TEXT_BYTES = 256;
export const MAX_BINDINGS = 24;
export const MAX_UNIFORM_WORDS = 256;
export const BINDING_ALIGNMENT = 256;
export const SLICE_MS = 50;
export const SILENCE_MS = 1500;
export const START_SILENCE_MS = 20000;
export const HEARTBEAT_MS = 250;
export const NO_POSITION = 0xffffffff;
export const TRACE_WORDS = 6;
export const DISPATCH_WORDS = 7;
export const CLOSE_REQUEST = 0xffffffff;
export const SLEEPS_ON_WORD = 1;
export const SLEEPS_FOR_MESSAGE = 2;
export const INTERRUPT_ONCE = 1;
export const INTERRUPT_REVOKE = 2;

export const Word = {
  magic: 0,
  ringAddress: 1,
  ringWords: 2,
  strict: 3,
  wanted: 4,
  written: 16,
  request: 17,
  consumed: 32,
  fenceDone: 33,
  state: 34,
  answered: 35,
  progress: 36,
  silenceMs: 37,
  signal: 38,
  sleeps: 48,
  interrupt: 49,
  errorFull: 50,
  commands: 64,
  dispatches: 65,
  submits: 66,
  pipelinesCreated: 67,
  errorsDropped: 68,
  bindGroupsCreated: 69,
  bytesUp: 70,
  bytesUpHigh: 71,
  bytesDown: 72,
  bytesDownHigh: 73,
  sleepsTaken: 74,
  buffersLive: 75,
  bufferBytesLive: 76,
  bufferBytesLiveHigh: 77,
  errorCode: 80,
  errorPosition: 81,
  errorOpcode: 82,
  errorTag: 83,
  errorTextBytes: 84,
  errorText: 88,
  backend: 224,
  capabilityFlags: 225,
  maxBufferBytes: 226,
  maxBindingBytes: 227,
  maxStorageBuffers: 228,
  maxWorkgroupBytes: 229,
  maxInvocations: 230,
  maxWorkgroupX: 231,
  maxWorkgroupY: 232,
  maxWorkgroupZ: 233,
  maxGrid: 234,
  minSubgroup: 235,
  maxSubgroup: 236,
  maxUniformBytes: 237,
  deviceTextBytes: 238,
  deviceText: 240,
} as const;

export const State = {
  absent: 0,
  running: 1,
  lost: 2,
  gone: 3,
  closed: 4,
} as const;

export const Backend = {
  none: 0,
  recording: 1,
  webgpu: 2,
  webgl2: 3,
} as const;

export const Capability = {
  shaderF16: 1,
  subgroups: 2,
  timestamps: 4,
  fallbackAdapter: 8,
  sharedUploads: 16,
} as const;

export const ErrorCode = {
  none: 0,
  validation: 1,
  outOfMemory: 2,
  shader: 3,
  deviceInternal: 4,
  unknownBuffer: 5,
  unknownPipeline: 6,
  badBinding: 7,
  badRange: 8,
  badCommand: 9,
  badAddress: 10,
  overLimit: 11,
  deviceLost: 12,
  noAdapter: 13,
  noDevice: 14,
} as const;

export const Opcode = {
  pad: 0,
  createBuffer: 1,
  destroyBuffer: 2,
  upload: 3,
  uploadInline: 4,
  copy: 5,
  fill: 6,
  createPipeline: 7,
  destroyPipeline: 8,
  dispatch: 9,
  read: 10,
  fence: 11,
  timestampBegin: 12,
  timestampEnd: 13,
  label: 14,
  trace: 15,
} as const;
