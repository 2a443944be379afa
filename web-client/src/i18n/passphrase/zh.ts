// The Chinese texts about passphrases. Page thread; pure data.

import type { PassphraseWords } from "./words.ts";

export const zhPassphrase: PassphraseWords = {
  text: "凭八个单词，无需账号即可把贡献带到另一部手机或另一个浏览器。知道这些单词的人只能看到贡献了多少，看不到其他任何信息。",
  kept: (count, formatted) =>
    count === 1
      ? "已用八个单词保留。本设备已设置这些单词。"
      : `已用八个单词保留。${formatted} 台设备已设置这些单词，合并计算。`,
  make: "用八个单词保留",
  makeNew: "生成新的单词",
  makeNewHint: "新的单词只包含本浏览器的设备。其他设备仍使用原来的单词。",
  restore: "输入你的单词",
  working: "请稍候…",
  words: "你的单词",
  once: "请立即写下来。这些单词只显示一次，不会保存在任何地方。",
  copy: "复制单词",
  copied: "已复制。",
  copyByHand: "无法复制。请把单词写下来。",
  done: "我已记下",
  entry: "你的八个单词",
  entryHint: "每个单词只输入前三个字母即可。",
  confirm: "恢复",
  cancel: "取消",
  problems: {
    unknown:
      "没有设备使用这些单词。请检查每个单词及其顺序。如果使用它们的设备都已被删除，就没有可以恢复的内容了。",
    full: "使用这些单词的设备已经太多。请先删除其中一台。",
    rate_limited: "刚才尝试次数过多。请等一分钟再试。",
    unreachable: "无法连接服务器。请重试。",
    no_device: "请先开始一次：现在还没有可保留的内容。",
    not_kept: "仅在本次访问中恢复。此浏览器不保存任何内容（例如无痕窗口），下次请重新输入单词。",
  },
  unknownWord: (word) => `“${word}”不在单词表中。`,
  count: (count, needed) => `你输入了 ${count} 个单词，需要 ${needed} 个。`,
};
