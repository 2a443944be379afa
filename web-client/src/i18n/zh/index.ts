// The texts of the join page in Simplified Chinese. Page thread; pure data.

import type { Dictionary } from "../dictionary.ts";
import { zhApp } from "./app.ts";
import { zhLimits } from "./limits.ts";

export const zh: Dictionary = {
  tag: "zh-Hans",
  pageTitle: "参与 – Hyperflock",
  language: "语言",
  languageFailed: "无法下载此语言。",
  notReviewed: "译文尚未经母语者审阅。",

  intro: {
    eyebrow: "志愿计算",
    heading: (project) => `把这台设备借给“${project}”`,
    headingWhileLoading: "把这台设备借给一个研究项目",
    what: (owner, project) => `这台设备将为 ${owner} 的项目“${project}”训练小型神经网络。`,
    sandbox: "Python 代码只在此浏览器的沙箱中运行，看不到你的文件、照片或其他标签页。",
  },

  facts: {
    heading: "需要什么",
    download: {
      about: (size) => `约 ${size}`,
      between: (least, most) => `${least} 至 ${most}`,
      little: (size) => `不到 ${size}`,
      title: (amount) => `只需下载一次：${amount}`,
      exact: "浏览器会保留一份。已包含当前试验的代码和数据。",
      text: "浏览器会保留一份。有些试验还需要最多 3 MB 以及各自的数据。",
    },
    power: { title: "处理器和电池", text: "设备可能会发热。可以的话请接上电源。" },
    open: {
      title: "保持此页面打开、屏幕亮起",
      text: "在手机上，页面被隐藏时计算会暂停。",
    },
    stop: { title: "随时可以停止", text: "点“停止”或关闭页面，就不会再有任何运行。" },
  },

  actions: {
    start: "开始",
    stop: "停止",
    pause: "暂停",
    resume: "继续",
    finish: "完成后停止",
    startAgain: "再次开始",
    tryAgain: "重试",
    useThisTab: "改用此标签页",
    copyLink: "复制链接",
    copied: "链接已复制",
    copyByHand: "请选中上面的链接并复制。",
    linkLabel: "参与链接",
    openOutside: (browser) => `在 ${browser} 中打开`,
    stayHere: "仍在这里试试",
  },
  beforeTap: "在你点“开始”之前不会进行任何计算。",

  states: {
    joining: { title: "正在加入", text: "正在向服务器为此浏览器申请一个随机编号。" },
    connecting: { title: "正在连接", text: "正在建立与服务器的连接。" },
    unreachable: (wait) => ({
      title: "无法连接服务器",
      text: `${wait}后重试。你不需要做任何事。`,
    }),
    retryingNow: { title: "无法连接服务器", text: "正在重试。你不需要做任何事。" },
    waiting: {
      title: "等待任务",
      no_work: "现在没有可计算的内容。下一次试验会在这里自动开始。",
      no_matching_work: "当前的试验需要另一类设备。适合这台设备的试验会自动开始。",
      draining: "服务器正在重启。稍后会自动继续。",
      read_only: "服务器目前无法保存结果，因此不分配任务。此页面会继续询问。",
    },
    loading: { title: "准备中", text: "正在下载试验所需的内容。其中大部分会保留到下次访问。" },
    computing: "正在计算",
    delivering: {
      title: "等待送出结果",
      text: "一次试验已在这里完成，但联系不上服务器。请尽量保持此页面打开：结果会自动发送，最迟在你下次访问时发送。",
    },
    finishing: "这是最后一次试验：完成后设备会自动停止。",
    computingOffline: "设备处于离线状态。试验继续进行，恢复连接后会发送结果。",
    offline: { title: "这台设备处于离线状态", text: "恢复连接后会自动继续。" },
    hidden: { title: "已暂停", text: "此页面曾被隐藏。页面可见时计算会继续。" },
    pausedByChoice: {
      title: "已暂停",
      text: "在你点“继续”之前不会进行任何计算。刚才的试验已交给另一台设备。",
    },
    pausedKept: {
      title: "已暂停",
      text: "在你点“继续”之前不会进行任何计算。刚才的试验会保留几分钟，尽快继续就能在这里接着进行。",
    },
    trialKept: "刚才的试验会保留几分钟，以便在这里接着进行。",
    stopped: { title: "已停止", text: "这台设备上不再有任何运行。谢谢。" },
    finished: {
      title: "已完成",
      text: "最后一次试验已完成，服务器已收到结果。不再有任何运行。谢谢。",
    },
    elsewhere: {
      title: "另一个标签页正在计算",
      text: "此浏览器一次只在一个标签页中计算，另一个标签页正在工作。你可以让它继续，也可以改在这里进行。",
    },
    interruptedTrial: (trial, study) =>
      `浏览器在“${study}”的试验 ${trial} 进行时关闭了此页面。试验没有丢失：它会重新分配。这台设备仍然有效；点“开始”继续，这次会使用较少内存。`,
    interruptedHidden:
      "浏览器在后台关闭了此页面。没有丢失任何内容，这台设备仍然有效：点“开始”继续。",
    stoppedByOperator: (study) =>
      `服务器的管理员停止了“${study}”。它的试验已在这里结束；这台设备会自动继续其他任务。`,
    comesBack: "这是之前被浏览器中断的试验，现在重新计算。",
    forgetting: { title: "正在删除", text: "正在请求服务器忘记这台设备。" },
    forgotten: {
      title: "已忘记这台设备",
      text: "服务器和此浏览器已删除它的随机编号及其名下的一切。它的结果会保留，但不再与它关联。",
    },
    notForgotten: { title: "尚未忘记", text: "未能通知服务器，因此没有删除任何内容。" },
    replaced: {
      title: "另一个标签页已接手",
      text: "此浏览器一次只在一个标签页中计算，现在由较新的标签页工作。",
    },
    failed: "没有成功",
    failures: {
      agent_failed: "此页面的一部分无法加载。请重新加载页面后再试。",
      bad_enrolment_code: "此参与链接已失效。请向发送链接的人索取新链接。",
      bad_token: "服务器不再认识此浏览器。请重试，以新设备的身份加入。",
      banned: "管理员已排除这台设备。请向发送链接的人询问原因。",
      blob_unavailable: "无法下载试验所需的一个文件。请重试；如仍不行，请告诉发送链接的人。",
      client_too_old: "此页面比服务器旧。请重新加载以获取新版本。",
      device_revoked: "管理员已移除这台设备。请询问发送链接的人是否可以再次加入。",
      full: "服务器目前无法接受更多设备。请稍后重试。",
      rate_limited: "刚才此网络加入的设备过多。请等一分钟后重试。",
      server_too_old: "服务器比此页面旧。请重新加载页面，或稍后重试。",
      unknown_runtime: "服务器不提供试验所需的软件。请告诉发送链接的人。",
    },
    failureCode: (code) => `代码：${code}`,
    keepScreenOn: "此浏览器无法自动保持屏幕亮起：请手动保持。",
    screenKeptOn: "参与期间屏幕会保持亮起。",
  },

  unsupported: {
    title: "此浏览器无法参与",
    reasons: {
      not_isolated: "页面是在应用内打开的，或浏览器没有隔离此页面，因此不能在这里计算。",
      insecure_context: "页面是通过未加密的连接（http）打开的。",
      no_shared_memory: "此浏览器不允许页面的各部分共享内存。",
      no_module_workers: "此浏览器过旧，无法在后台运行代码。",
      no_wasm_simd: "此浏览器缺少计算所需的一种 WebAssembly。",
      no_webassembly: "此浏览器关闭了 WebAssembly，而试验要用它计算。",
      no_crypto: "此浏览器不允许页面校验下载的文件。",
      no_websocket: "此浏览器不允许页面与服务器保持连接。",
      no_streams: "此浏览器不允许页面在文件到达时读取它。",
    },
    remedies: {
      not_isolated: "请复制链接，直接用最新的 Chrome、Edge、Firefox 或 Safari 打开。",
      insecure_context: "请向发送链接的人索取以 https 开头的链接。",
      no_shared_memory: "请复制链接，用最新的 Chrome、Edge、Firefox 或 Safari 打开。",
      no_module_workers: "请更新浏览器，或复制链接用另一个浏览器打开。",
      no_wasm_simd: "请更新浏览器，或复制链接在另一台设备上打开。",
      no_webassembly:
        "在处于锁定模式的 iPhone 或 iPad 上，请为此网站关闭该模式。否则请复制链接用另一个浏览器打开。",
      no_crypto: "请更新浏览器，或复制链接用另一个浏览器打开。",
      no_websocket: "请关闭会拦截连接的扩展程序，或复制链接用另一个浏览器打开。",
      no_streams: "请更新浏览器，或复制链接用另一个浏览器打开。",
    },
  },

  inApp: {
    title: "请在浏览器中打开此页面",
    text: (app) =>
      `它是在 ${app} 内打开的。应用内的浏览器往往不让页面计算，还会不加提示地关闭页面。`,
    textUnknown: "它是在某个应用内打开的。应用内的浏览器往往不让页面计算，还会不加提示地关闭页面。",
    menu: {
      line: "点 LINE 栏中的 ⋮ 或分享图标。",
      instagram: "点右上角的 ⋯。",
      facebook: "点应用栏中的 ⋯ 或 ⋮。",
      x: "点应用栏中的分享图标或 ⋮。",
      google: "点应用栏中的 ⋮ 或分享图标。",
      wechat: "点右上角的 ⋯。",
      tiktok: "点右上角的 ⋯。",
      yahoo_japan: "打开应用底部的菜单。",
      linkedin: "点右上角的 ⋮ 或 ⋯。",
      snapchat: "点应用栏中的 ⋮ 或 ⋯。",
      kakaotalk: "点应用栏中的 ⋮ 或分享图标。",
      other: "打开应用的菜单，通常是 ⋯ 或 ⋮。",
    },
    choose: (browser) => `选择“在 ${browser} 中打开”或“在浏览器中打开”。`,
    byHand: (browser) => `或者复制链接，粘贴到 ${browser}。`,
    browser: { ios: "Safari", android: "Chrome", other: "你的浏览器" },
  },

  memory: {
    heading: "欢迎回来",
    text: "这台设备以前参与过。点“开始”即可继续。",
    linkEnded:
      "参与链接已失效，新设备无法再通过它加入。这台设备以前加入过：点“开始”看看服务器是否仍接受它。",
    toFetch: (amount) => `需下载 ${amount}。`,
    given: (trials, time) => `这台设备已贡献 ${trials} 次试验，共 ${time}。`,
    renamed: (before, now) => `“${before}”现在叫作“${now}”。`,
    damaged: "这台设备记住的一个项目已无法读取。请再次打开它的参与链接。",
    notKept: "此浏览器不会保留此项目，例如在无痕窗口中。请保存参与链接，以便再来。",
    forget: "忘记此项目",
    choose: "你的项目",
  },

  projectProblems: {
    no_code: {
      title: "这台设备上还没有项目",
      text: "请打开你收到的完整链接，或扫描它的二维码。链接末尾是 # 和一段代码。开始一次之后，此页面会记住项目，无痕窗口除外。",
    },
    bad_code: {
      title: "此参与链接无效",
      text: "它可能已过期，或在传送途中缺了一部分。请向发送链接的人索取新链接。",
    },
    rate_limited: { title: "请求过多", text: "此网络刚才询问得过于频繁。请等一分钟后重试。" },
    unreachable: {
      title: "无法连接服务器",
      text: "请检查这台设备是否联网、网络是否正确，然后重试。",
    },
    server: { title: "服务器出了问题", text: "它未能说明这是哪个项目。请稍后重试。" },
  },
  projectLoading: { title: "请稍候", text: "正在询问服务器这是哪个项目。" },

  trial: {
    counter: (number, total) =>
      total === null ? `试验 ${number}` : `试验 ${number}，共 ${total} 次`,
    forOwner: (owner) => `为 ${owner}`,
    parameters: "正在尝试",
    curve: "报告的数值",
    curveEmpty: "尚未报告第一个数值。",
    curveSummary: (count, first, last) =>
      count === 1 ? `报告了 1 个数值：${last}` : `报告了 ${count} 个数值，从 ${first} 到 ${last}`,
    latest: "最新",
    step: (step) => `第 ${step} 步`,
    elapsed: "已运行",
    bytes: (loaded, total) => `${loaded} / ${total}`,
  },

  contribution: {
    heading: "你的贡献",
    trials: "完成的试验",
    time: "计算时间",
    thanks: "每一次完成的试验都有帮助，结果不好的也一样。谢谢。",
  },

  given: {
    heading: "你的贡献",
    today: (time, isToday) => (isToday ? `今天，自 ${time} 起` : `自昨天 ${time} 起`),
    week: "最近 7 天",
    all: "总计",
    trials: "试验",
    time: "时间",
    improved: "刷新最佳",
    note: "“刷新最佳”统计优于所属研究此前所有结果的结果。服务器只统计已接受的结果，约晚半分钟。",
    card: {
      make: "分享卡片",
      saved: "卡片已保存为图片。上面只有项目名称和这些数字，没有任何关于你的信息。",
      failed: "无法生成卡片。",
      heading: "借给科研的计算时间",
      project: (name) => `用于“${name}”`,
      projects: (count) => `用于 ${count} 个项目`,
    },
  },

  project: {
    heading: "项目",
    runBy: (owner) => `由 ${owner} 负责`,
    progress: (done, total) => `已完成 ${done} 次试验，共 ${total} 次`,
    studies: (_count, formatted) => `${formatted} 个研究`,
    choose: "选择项目",
    noTrials: "还没有试验。这台设备可以先加入并等待。",
  },

  gpuShare: {
    label: "图形处理器",
    hint: "有些试验在它上面计算。只用一部分时间，其余时间留给你自己使用。",
    shares: { 1: "全部时间", 0.5: "一半时间", 0.25: "四分之一时间" },
  },

  privacy: {
    summary: "服务器会了解这台设备的哪些信息",
    items: [
      "此浏览器保存的一个随机编号。不需要账号，也没有人询问你的姓名。",
      "这是手机、平板还是电脑，浏览器的种类、内存和处理器核心数。关于图形处理器：制造商和系列、是否只是软件模拟、能否进行半精度计算，以及最大数组的大小。",
      "它计算的试验的结果及所用时间。服务器据此按天统计这台设备的贡献。",
      "如果用八个单词保留贡献：单词的哈希值，以及哪些设备设置了它。绝不会发送单词本身。",
      "它的网络地址，与任何网页一样。",
    ],
  },

  passphrase: "保留你的贡献",
  limits: zhLimits,
  app: zhApp,
  selfTest: "检测此浏览器的能力",
  forget: {
    ask: "忘记这台设备",
    question:
      "要停止，并从服务器和这里删除这台设备的随机编号、设备类型和浏览器信息吗？结果会保留，但不再与它关联。你的贡献将不再计入这台设备。",
    confirm: "是，忘记它",
    cancel: "保留",
  },

  footer: "此页面上的一切都来自项目自己的服务器。",
};
