// The Japanese texts of the self-test page. Page thread; pure data.

import type { SelfTestWords } from "./dictionary.ts";

const update = "ブラウザーを更新するか、別のブラウザーをお試しください。";

export const ja: SelfTestWords = {
  tag: "ja",
  pageTitle: "セルフテスト – Hyperflock",
  heading: "このブラウザーでできること",
  lead: "計算に必要なもの、あるとよいものを 1 行ずつ調べます。送信しない限り、結果はこの端末の外に出ません。",
  verdict: {
    looking: "調べています…",
    good: "このブラウザーで参加できます。",
    bad: (reason) => `このブラウザーでは参加できません。${reason}`,
  },
  device: (deviceClass, engine) => `端末の種類：${deviceClass}、${engine}`,
  columns: { check: "調べたもの", state: "結果", detail: "詳細", remedy: "対処" },
  caption: "調べた結果",
  states: {
    ok: "良好",
    limited: "制限あり",
    missing: "なし",
    failed: "失敗",
    skipped: "まだです",
  },
  checks: {
    isolation: {
      title: "ページの隔離",
      remedy: "アプリの中ではなくブラウザーで、https で始まるリンクから開いてください。",
    },
    basics: {
      title: "WebAssembly、ハッシュ、WebSocket、ストリーム",
      remedy: `${update}ロックダウンモードなどで無効になることがあります。`,
    },
    thread: {
      title: "スレッドでも同じ機能",
      remedy:
        "ページを読み込み直してください。また失敗する場合は、別のブラウザーをお試しください。",
    },
    shared_memory: {
      title: "スレッド間の共有メモリー",
      remedy:
        "隔離されたページで使えます。なくても、下の「待機できる WebAssembly」があれば計算できます。",
    },
    wasm_simd: { title: "WebAssembly SIMD（必須）", remedy: `${update}これがないと動きません。` },
    relaxed_simd: {
      title: "WebAssembly relaxed SIMD（任意）",
      remedy: "なくても動きますが、大きな行列の積が遅くなります。",
    },
    jspi: {
      title: "待機できる WebAssembly（JSPI）",
      remedy: "スレッドがメモリーを共有できない場合にだけ必要です。",
    },
    functions: {
      title: "新しい JavaScript の関数",
      remedy: "なくても、ページが自前の関数を使います。",
    },
    webgpu: {
      title: "グラフィックスプロセッサー（WebGPU）",
      remedy:
        "なくてもプロセッサーで計算します。ブラウザーとグラフィックスドライバーを更新し、グラフィックスアクセラレーションを有効にしてください。",
    },
    webgl2: {
      title: "WebGL 2（任意）",
      remedy: "なくても動きます。グラフィックスアクセラレーションを有効にしてください。",
    },
    memory: {
      title: "メモリーとコア数",
      remedy:
        "ほかのタブやアプリを閉じてください。ブラウザーが容量を示さない場合は、控えめな値を使います。",
    },
    array_memory: {
      title: "共有配列用のメモリー",
      remedy: "ほかのタブやアプリを閉じてから、ページを読み込み直してください。",
    },
    storage: {
      title: "保存領域",
      remedy:
        "空き容量を増やすか、プライベートウィンドウ以外で開いてください。保存できないと毎回すべてを取得します。",
    },
    wake_lock: {
      title: "画面の常時点灯",
      remedy:
        "充電するか低電力モードを解除してください。使えない場合は画面をつけたままにしてください。",
    },
    web_locks: {
      title: "タブは一度に 1 つ",
      remedy: `${update}それまでは、参加ページを 1 つのタブだけで開いてください。`,
    },
    clock: { title: "時計", remedy: "なくても動きます。時間の表示が粗くなります。" },
    numpy: {
      title: "Python と NumPy",
      remedy:
        "ページを読み込み直してください。また失敗する場合は、リンクを送ってくれた人に結果を送ってください。",
    },
  },
  python: {
    heading: "計算してみる",
    text: "試行と同じように Python を起動し、NumPy の計算結果を確かめます。初回は約 8 MB を取得します。",
    button: "Python を実行",
    again: "もう一度 Python を実行",
    runs: "Python を起動して計算しています…",
    bytes: (loaded, total) => `${loaded} / ${total}（取得済み）`,
    done: "完了しました。結果は表にあります。",
  },
  send: {
    heading: "運営者に送る",
    text: "上の表と端末の種類だけを送ります。",
    withoutCode: "送るには、参加用リンクを先に開き、そのページからここに戻ってください。",
    button: "この結果を送る",
    sending: "送信しています…",
    sent: (number) => `報告 ${number} として送信しました。ありがとうございます。`,
    refused: (code) =>
      `送信できませんでした。1 分ほど待ってからやり直してください。コード：${code}`,
  },
  join: "参加ページへ",
};
