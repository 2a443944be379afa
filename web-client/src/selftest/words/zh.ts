// The texts of the self-test page in Simplified Chinese. Page thread; pure data.

import type { SelfTestWords } from "./dictionary.ts";

const update = "请更新浏览器，或换一个浏览器。";

export const zh: SelfTestWords = {
  tag: "zh-Hans",
  pageTitle: "自检 – Hyperflock",
  heading: "此浏览器能做什么",
  lead: "每一行都是此页面计算时需要或可以使用的功能。除非你发送，否则没有任何内容离开这台设备。",
  verdict: {
    looking: "正在检测…",
    good: "此浏览器可以参与。",
    bad: (reason) => `此浏览器无法参与。${reason}`,
  },
  device: (deviceClass, engine) => `识别为：${deviceClass}，${engine}`,
  columns: { check: "检测项", state: "结果", detail: "详情", remedy: "解决办法" },
  caption: "检测结果",
  states: {
    ok: "良好",
    limited: "受限",
    missing: "缺少",
    failed: "失败",
    skipped: "尚未检测",
  },
  checks: {
    isolation: {
      title: "页面隔离",
      remedy: "请用以 https 开头的链接，在浏览器中打开页面，不要在应用内打开。",
    },
    basics: {
      title: "WebAssembly、哈希、WebSocket、流",
      remedy: `${update}有些浏览器会关闭其中一项，例如在锁定模式下。`,
    },
    thread: {
      title: "线程中也有这些功能",
      remedy: "请重新加载页面。如果再次失败，请换一个浏览器。",
    },
    shared_memory: {
      title: "线程共享的内存",
      remedy: "在隔离的页面上可用。没有它时，可等待的 WebAssembly（见下）就够了。",
    },
    wasm_simd: { title: "WebAssembly SIMD（必需）", remedy: `${update}没有它什么都无法运行。` },
    relaxed_simd: {
      title: "WebAssembly relaxed SIMD（可选）",
      remedy: "不是必需；没有它时，大矩阵的乘积会慢一些。",
    },
    jspi: {
      title: "可等待的 WebAssembly（JSPI）",
      remedy: "只有在线程不能共享内存时才需要。",
    },
    functions: { title: "较新的 JavaScript 函数", remedy: "不是必需：页面自带这些函数。" },
    webgpu: {
      title: "图形处理器（WebGPU）",
      remedy: "不是必需；没有它时由处理器计算。请更新浏览器和显卡驱动，并打开图形加速。",
    },
    webgl2: { title: "WebGL 2（可选）", remedy: "不是必需。请打开图形加速。" },
    memory: {
      title: "内存和核心数",
      remedy: "请关闭其他标签页和应用。如果浏览器没有说明，会使用保守的估计。",
    },
    array_memory: {
      title: "共享数组的内存",
      remedy: "请关闭其他标签页和应用，然后重新加载此页面。",
    },
    storage: {
      title: "存储空间",
      remedy: "请腾出一些空间，或离开无痕窗口：否则每次访问都要重新下载。",
    },
    wake_lock: {
      title: "保持屏幕亮起",
      remedy: "请充电或退出低电量模式；否则请手动保持屏幕亮起。",
    },
    web_locks: {
      title: "一次一个标签页",
      remedy: `${update}在此之前，请只在一个标签页中打开参与页面。`,
    },
    clock: { title: "时钟", remedy: "不是必需；时间显示会粗略一些。" },
    numpy: {
      title: "Python 与 NumPy",
      remedy: "请重新加载页面。如果再次失败，请把报告发给给你链接的人。",
    },
  },
  python: {
    heading: "计算一下",
    text: "像试验那样启动 Python，并检查 NumPy 的一个结果。第一次约下载 8 MB。",
    button: "运行 Python",
    again: "再次运行 Python",
    runs: "Python 正在启动并计算…",
    bytes: (loaded, total) => `${loaded} / ${total}（已下载）`,
    done: "完成。结果在表中。",
  },
  send: {
    heading: "发送给管理员",
    text: "只发送上面的表格和设备类型。",
    withoutCode: "要发送，请先打开参与链接，再从它的页面回到这里。",
    button: "发送此报告",
    sending: "正在发送…",
    sent: (number) => `已作为报告 ${number} 发送。谢谢。`,
    refused: (code) => `未能发送。请一分钟后重试。代码：${code}`,
  },
  join: "前往参与页面",
};
