// The texts about the page as an app in Simplified Chinese. Page thread; pure data.

import type { AppWords } from "../../app_shell/words.ts";

export const zhApp: AppWords = {
  offline: {
    title: "没有连接",
    text: "你的项目都在这里。这台设备重新连上服务器并且你点“开始”后，计算会继续。",
  },
  newVersion: { title: "有新版本", text: "重新加载此页面即可使用。不会丢失任何内容。" },
  reload: "重新加载",
  install: { title: "放在手边", text: "有了自己的图标，点一下就能回来。" },
  add: "添加图标",
  notNow: "不用了",
  iosSteps: ["点 Safari 栏中的分享图标。", "选择“添加到主屏幕”。"],
  night: { begin: "夜间调暗", label: "夜间时钟", end: "点一下结束" },
};
