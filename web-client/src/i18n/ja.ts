// Japanese words of the join page. Page thread; pure data.

import type { Dictionary } from "./dictionary.ts";

export const ja: Dictionary = {
  tag: "ja",
  pageTitle: "参加する – Hyperflock",

  intro: {
    eyebrow: "ボランティア・コンピューティング",
    heading: (project) => `この端末の計算力を「${project}」に貸す`,
    headingWhileLoading: "この端末の計算力を研究に貸す",
    what: (owner, project) =>
      `${owner} のプロジェクト「${project}」のために、この端末で小さなニューラルネットワークを学習させます。`,
    sandbox:
      "Python のコードはブラウザーのサンドボックスの中だけで動き、この端末のファイルや写真、ほかのタブを見ることはできません。",
  },

  facts: {
    heading: "必要なもの",
    download: {
      title: "初回のみ約 10 MB の通信",
      text: "2 回目からはブラウザーに保存したものを使います。",
    },
    power: {
      title: "プロセッサーと電池",
      text: "端末が温かくなることがあります。できれば充電しながらご利用ください。",
    },
    open: {
      title: "ページを開き、画面をつけたままに",
      text: "ページが隠れている間は計算を休みます。",
    },
    stop: {
      title: "いつでも停止できます",
      text: "「停止」を押すかページを閉じれば、何も動き続けません。",
    },
  },

  actions: {
    start: "開始",
    stop: "停止",
    pause: "一時停止",
    resume: "再開",
    finish: "終えてから停止",
    startAgain: "もう一度開始",
    tryAgain: "やり直す",
    useThisTab: "このタブで計算する",
    copyLink: "リンクをコピー",
    copied: "コピーしました",
    copyByHand: "上のリンクを選択してコピーしてください。",
    linkLabel: "参加用リンク",
    openOutside: (browser) => `${browser} で開く`,
    stayHere: "このまま試す",
  },
  beforeTap: "「開始」を押すまで計算は始まりません。",

  states: {
    joining: {
      title: "参加の手続き中",
      text: "このブラウザー用のランダムな ID をサーバーから受け取っています。",
    },
    connecting: { title: "接続中", text: "サーバーに接続しています。" },
    unreachable: (wait) => ({
      title: "サーバーに接続できません",
      text: `${wait}後に自動で再接続します。操作は必要ありません。`,
    }),
    retryingNow: {
      title: "サーバーに接続できません",
      text: "再接続しています。操作は必要ありません。",
    },
    waiting: {
      title: "計算を待っています",
      no_work: "今は計算するものがありません。次の試行が届くと自動で始まります。",
      no_matching_work:
        "残っている試行は別の種類の端末を必要としています。この端末に合うものが届くと自動で始まります。",
      draining: "サーバーが再起動しています。まもなく自動で再開します。",
      read_only:
        "サーバーが結果を保存できないため、計算の割り当てを止めています。このまま待つと自動で再開します。",
    },
    loading: {
      title: "準備中",
      text: "試行に必要なものを取得しています。大部分は次回のために保存されます。",
    },
    computing: "計算中",
    finishing: "この試行が最後です。終わると自動で停止します。",
    computingOffline: "端末がオフラインです。試行はこのまま続き、接続が戻ると結果を送ります。",
    offline: {
      title: "端末がオフラインです",
      text: "接続が戻ると自動で再開します。",
    },
    hidden: {
      title: "休止中",
      text: "ページが隠れていました。表示されている間に自動で再開します。",
    },
    pausedByChoice: {
      title: "一時停止中",
      text: "「再開」を押すまで計算しません。途中だった試行は、ほかの端末のために返しました。",
    },
    stopped: {
      title: "停止しました",
      text: "この端末では何も動いていません。ご協力ありがとうございました。",
    },
    finished: {
      title: "完了しました",
      text: "最後の試行が終わり、結果がサーバーに届きました。もう何も動いていません。ご協力ありがとうございました。",
    },
    forgetting: {
      title: "削除しています",
      text: "この端末の情報の削除をサーバーに依頼しています。",
    },
    forgotten: {
      title: "この端末の情報を削除しました",
      text: "ランダムな ID とそれに結び付く情報を、サーバーとこのブラウザーから削除しました。計算結果は、この端末とのつながりを消して残ります。",
    },
    notForgotten: {
      title: "まだ削除されていません",
      text: "サーバーに伝えられなかったため、何も削除していません。",
    },
    replaced: {
      title: "別のタブに引き継がれました",
      text: "計算するのは 1 つのブラウザーにつき 1 つのタブだけです。今は新しいタブが計算しています。",
    },
    failed: "うまくいきませんでした",
    failures: {
      agent_failed: "ページの一部を読み込めませんでした。再読み込みしてからやり直してください。",
      bad_enrolment_code:
        "この参加用リンクは無効になっています。送ってくれた人に新しいリンクをもらってください。",
      bad_token:
        "サーバーにこのブラウザーの登録が残っていません。やり直すと新しい端末として参加します。",
      banned:
        "この端末は運営者によって除外されています。リンクを送ってくれた人に確認してください。",
      blob_unavailable:
        "試行に必要なファイルを取得できませんでした。やり直しても解決しない場合は、リンクを送ってくれた人に知らせてください。",
      client_too_old: "ページがサーバーより古くなっています。再読み込みしてください。",
      device_revoked:
        "この端末の登録は運営者によって削除されました。もう一度参加できるか、リンクを送ってくれた人に確認してください。",
      full: "サーバーに接続できる端末の数が上限に達しています。時間をおいてやり直してください。",
      rate_limited:
        "このネットワークから短い間に多くの端末が参加しました。1 分ほど待ってからやり直してください。",
      server_too_old:
        "サーバーがページより古いままです。再読み込みするか、時間をおいてやり直してください。",
      unknown_runtime:
        "試行に必要なソフトウェアがサーバーにありません。リンクを送ってくれた人に知らせてください。",
    },
    failureCode: (code) => `コード：${code}`,
    keepScreenOn:
      "このブラウザーは画面を自動でつけたままにできません。画面が消えないようにしてください。",
    screenKeptOn: "計算している間は画面がついたままになります。",
  },

  unsupported: {
    title: "このブラウザーでは参加できません",
    reasons: {
      not_isolated:
        "アプリ内のブラウザーなど、ページを隔離しない環境で開かれたため、ここでは計算できません。",
      insecure_context: "暗号化されていない接続（http）で開かれています。",
      no_shared_memory: "このブラウザーは、計算に必要な共有メモリーに対応していません。",
      no_module_workers: "ブラウザーが古く、裏側でコードを動かせません。",
      no_wasm_simd: "このブラウザーは、計算に必要な種類の WebAssembly に対応していません。",
    },
    remedies: {
      not_isolated:
        "リンクをコピーして、最新の Chrome、Edge、Firefox、Safari のいずれかで直接開いてください。",
      insecure_context: "リンクを送ってくれた人に、https で始まるリンクをもらってください。",
      no_shared_memory:
        "リンクをコピーして、最新の Chrome、Edge、Firefox、Safari のいずれかで開いてください。",
      no_module_workers:
        "ブラウザーを更新するか、リンクをコピーして別のブラウザーで開いてください。",
      no_wasm_simd: "ブラウザーを更新するか、リンクをコピーして別の端末で開いてください。",
    },
  },

  inApp: {
    title: "ブラウザーで開いてください",
    text: (app) =>
      `${app} の中で開かれています。アプリ内のブラウザーでは計算できなかったり、途中で終了したりすることがよくあります。`,
    textUnknown:
      "アプリの中で開かれています。アプリ内のブラウザーでは計算できなかったり、途中で終了したりすることがよくあります。",
    menu: {
      line: "LINE のバーにある ⋮ または共有ボタンを押します。",
      instagram: "右上の ⋯ を押します。",
      facebook: "アプリのバーにある ⋯ または ⋮ を押します。",
      x: "アプリのバーにある共有ボタンまたは ⋮ を押します。",
      google: "アプリのバーにある ⋮ または共有ボタンを押します。",
      wechat: "右上の ⋯ を押します。",
      other: "アプリのメニュー（多くは ⋯ または ⋮）を開きます。",
    },
    choose: (browser) => `「${browser} で開く」または「ブラウザーで開く」を選びます。`,
    byHand: (browser) => `または、リンクをコピーして ${browser} に貼り付けます。`,
    browser: { ios: "Safari", android: "Chrome", other: "いつものブラウザー" },
  },

  projectProblems: {
    no_code: {
      title: "参加用リンクが途中で切れています",
      text: "届いたリンクの全体を開くか、QR コードをもう一度読み取ってください。リンクの末尾には # とコードがあります。",
    },
    bad_code: {
      title: "この参加用リンクは使えません",
      text: "期限が切れたか、一部が欠けている可能性があります。送ってくれた人に新しいリンクをもらってください。",
    },
    rate_limited: {
      title: "リクエストが多すぎます",
      text: "このネットワークからのアクセスが短い間に集中しました。1 分ほど待ってからやり直してください。",
    },
    unreachable: {
      title: "サーバーにつながりません",
      text: "端末がオンラインで、正しいネットワークにつながっていることを確かめてから、やり直してください。",
    },
    server: {
      title: "サーバーに問題があります",
      text: "プロジェクトの内容を取得できませんでした。少し待ってからやり直してください。",
    },
  },
  projectLoading: { title: "お待ちください", text: "プロジェクトの内容を確認しています。" },

  trial: {
    counter: (number, total) => `試行 ${number} / ${total}`,
    forOwner: (owner) => `依頼者：${owner}`,
    parameters: "試している値",
    curve: "報告された値",
    curveEmpty: "まだ値は報告されていません。",
    curveSummary: (count, first, last) =>
      count === 1
        ? `報告された値は 1 個：${last}`
        : `報告された値は ${count} 個、${first} から ${last} まで`,
    latest: "最新",
    step: (step) => `ステップ ${step}`,
    elapsed: "経過時間",
    bytes: (loaded, total) => `${loaded} / ${total}`,
  },

  contribution: {
    heading: "あなたの貢献",
    trials: "終えた試行",
    time: "計算した時間",
    thanks: "結果の良し悪しにかかわらず、終えた試行はすべて役に立ちます。ありがとうございます。",
  },

  project: {
    heading: "プロジェクト",
    runBy: (owner) => `主催：${owner}`,
    progress: (done, total) => `${total} 件中 ${done} 件の試行が完了`,
    studies: (_count, formatted) => `スタディ ${formatted} 件`,
    choose: "プロジェクトを選ぶ",
    noTrials: "まだ試行がありません。参加して届くのを待つことができます。",
  },

  privacy: {
    summary: "サーバーに伝わる情報",
    items: [
      "このブラウザーが保存するランダムな ID。アカウントは不要で、名前を尋ねることもありません。",
      "スマートフォン・タブレット・パソコンの別、ブラウザーの種類、メモリー量、プロセッサーのコア数。",
      "この端末が計算した試行の結果と、かかった時間。",
      "ほかのウェブページと同じく、ネットワークアドレス。",
    ],
  },

  forget: {
    ask: "この端末の情報を削除",
    question:
      "計算を停止し、この端末のランダムな ID・端末の種類・ブラウザーの種類を、サーバーとこのブラウザーから削除しますか？計算結果は、この端末とのつながりを消して残ります。これまでの貢献の記録は表示されなくなります。",
    confirm: "削除する",
    cancel: "削除しない",
  },

  footer: "このページの内容はすべてプロジェクト自身のサーバーから届いています。",
};
