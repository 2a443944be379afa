// The Japanese texts of a study's plots. Page thread; pure.

import type { PlotWords } from "./dictionary.ts";

export const plotsJa: PlotWords = {
  frame: {
    more: "表とファイル",
    numbers: (title) => `${title}の数値`,
    save: { csv: "CSV を保存", svg: "SVG を保存", png: "PNG を保存" },
    first: (count) => `最初の ${count} 行です。すべての行は CSV ファイルにあります。`,
    best: "これまでの最良値",
    feasible: "制約を満たす",
    still: "表示を固定",
    waiting: (count) => `新しい結果 ${count} 件が待機中です`,
    nothing: "有限の値をもつ完了した試行はありません。",
  },
  edf: {
    note: "値が x 以下の、完了した試行の割合です。同じ目的関数の二つのスタディでは、線が先に上がるほうに小さい値が多くあります。",
    title: (name) => `${name}の経験分布`,
    summary: (count, low, median, high) =>
      `完了した ${count} 件の試行の値の分布です。${low} から ${high} まで、半数は ${median} 以下です。`,
    share: "試行の割合",
  },
  rank: {
    note: "完了した試行を二つのパラメーターで示します。色は、完了したすべての試行の中での値の順位です。極端な値があっても、ほかの値の違いが見えます。点を押すとその試行を開きます。",
    title: (x, y) => `${x} と ${y} による順位`,
    summary: (dots, x, y) =>
      `${dots} 件の試行の ${x} と ${y} による順位です。すべての順位は下の表にあります。`,
    rank: "順位",
    parts: {
      least: "最小",
      quarter: "25 %の位置",
      middle: "50 %の位置",
      most: "75 %の位置",
      last: "最大",
    },
    part: (name, value) => `${name}：${value}`,
  },
  contour: {
    note: "二つのパラメーターの組ごとの、近くで最も良い値です。近くに試行がない所は、周りの試行から近い順に重く見て補間します。点を押すとその試行を開きます。",
    title: (x, y) => `${x} と ${y} の等高線`,
    summary: (dots, x, y, low, high) =>
      `${dots} 件の試行の ${x} と ${y} による値です。${low} から ${high} まで。組ごとの最良の値は下の表にあります。`,
    atLeast: (value) => `${value} 以上`,
    atMost: (value) => `${value} 以下`,
    flat: "どちらかのパラメーターの値が一つだけなので、等高線はありません。",
  },
  importance: {
    note: "試行が上位 10% に入るかどうかを、各パラメーターがどれだけ決めるかを示します（PED-ANOVA、Optuna と同じ計算）。合計は 100% です。",
    title: (name) => `${name}に対する重要度`,
    few: (trials) =>
      `完了した試行が ${trials} 件より少ないと、上位 10% の試行がわずかなので、この数値はあまり当てになりません。`,
    nothing: "範囲の分かるパラメーターをもつ、完了した試行はありません。",
    parameter: "パラメーター",
    share: "重要度",
    raw: "合計を 1 にする前の値",
  },
  timeline: {
    note: "端末ごとに一行で、終えた試行を棒で示します。間が空いている所では、このスタディの計算がなかったか、試行を決めなかった試みがありました。棒を押すとその試行を開きます。",
    nothing: "条件に合う試行に、開始と終了の時刻がありません。",
    span: (from, to) => `${from} から ${to} まで`,
    trials: (count) => `試行 ${count} 件`,
    noDevice: "端末なし",
    runMs: "実行時間（ms）",
    attempts: (count) => `試み ${count} 回`,
    again: (count) => `試行ごとの最初の試みのあとの、やり直しの数：${count}`,
    causes: "試行が失敗した理由",
    count: (what, count) => `${what}：${count}`,
    all: (count) => `${count} 台の端末をすべて表示`,
  },
  hypervolume: {
    heading: "超体積",
    note: "これまでの最良の試行が、参照点までの目的の空間をどれだけ支配するかを示します。参照点を超える試行と制約違反の試行は何も加えません。指定しなければ、参照点は各目的の最も悪い値です。",
    reference: "参照点",
    title: (reference) => `(${reference}) までの超体積`,
    summary: (trials, last) =>
      `完了した ${trials} 件の試行ごとの超体積です。最後は ${last} です。すべての数値は下の表にあります。`,
    cut: (trials) =>
      `最良の試行がとても多く、超体積の計算に時間がかかりすぎます。完了した最初の ${trials} 件を示しています。`,
  },
  curves: {
    nothing: "値を報告した試行も、系列を記録した試行もありません。",
    smoothing: (percent) => `平滑化 ${percent}`,
    near: (trial, step, value) => `${trial}、ステップ ${step}：${value}`,
  },
  across: "横軸",
  up: "縦軸",
  oneParameter: "この図には二つのパラメーターが必要です。",
};
