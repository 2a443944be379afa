// The English texts of the join page. Page thread; pure data.

import { enApp } from "../app_shell/words.ts";
import type { Dictionary } from "./dictionary.ts";
import { enLimits } from "./limits_words.ts";

export const en: Dictionary = {
  tag: "en",
  pageTitle: "Join – Hyperflock",
  language: "Language",
  languageFailed: "This language could not be fetched.",

  intro: {
    eyebrow: "Volunteer computing",
    heading: (project) => `Lend this device to “${project}”`,
    headingWhileLoading: "Lend this device to a research project",
    what: (owner, project) =>
      `This device will train small neural networks for ${owner}’s project “${project}”.`,
    sandbox:
      "The Python code runs inside this browser’s sandbox and cannot see your files, photos or other tabs.",
  },

  facts: {
    heading: "What it takes",
    download: {
      about: (size) => `About ${size}`,
      between: (least, most) => `${least} to ${most}`,
      little: (size) => `Less than ${size}`,
      title: (amount) => `${amount}, once`,
      exact:
        "This browser keeps a copy. The code and the data of the trials that run now are included.",
      text: "This browser keeps a copy. Some trials need up to 3 MB more, and their own data.",
    },
    power: {
      title: "Processor and battery",
      text: "The device may get warm. Plug it in if you can.",
    },
    open: {
      title: "This page open, screen on",
      text: "On a phone, computing pauses while the page is hidden.",
    },
    stop: {
      title: "Stop at any time",
      text: "Tap Stop or close the page, and nothing keeps running.",
    },
  },

  actions: {
    start: "Start",
    stop: "Stop",
    pause: "Pause",
    resume: "Resume",
    finish: "Finish, then stop",
    startAgain: "Start again",
    tryAgain: "Try again",
    useThisTab: "Use this tab instead",
    copyLink: "Copy link",
    copied: "Link copied",
    copyByHand: "Select the link above and copy it.",
    linkLabel: "Join link",
    openOutside: (browser) => `Open in ${browser}`,
    stayHere: "Try here all the same",
  },
  beforeTap: "Nothing is computed before you tap Start.",

  states: {
    joining: { title: "Joining", text: "Asking the server for a random id for this browser." },
    connecting: { title: "Connecting", text: "Opening the connection to the server." },
    unreachable: (wait) => ({
      title: "No connection to the server",
      text: `Next try in ${wait}. You need not do anything.`,
    }),
    retryingNow: {
      title: "No connection to the server",
      text: "Trying again now. You need not do anything.",
    },
    waiting: {
      title: "Waiting for work",
      no_work: "There is nothing to compute right now. The next trial starts here by itself.",
      no_matching_work:
        "The trials that are open need another kind of device. One that fits this device starts by itself.",
      draining: "The server is restarting. Work goes on by itself in a moment.",
      read_only:
        "The server cannot store results at the moment, so it hands out no work. This page keeps asking.",
    },
    loading: {
      title: "Getting ready",
      text: "Fetching what the trial needs. Most of it is kept for the next visit.",
    },
    computing: "Computing",
    delivering: {
      title: "Waiting to deliver",
      text: "A trial is finished here, but the server cannot be reached. Keep this page open if you can: the result is sent by itself, at the latest on your next visit.",
    },
    finishing: "This is the last trial: the device stops by itself when it is done.",
    computingOffline:
      "The device is offline. The trial goes on, and its result is sent once the connection is back.",
    offline: {
      title: "This device is offline",
      text: "Work goes on by itself once the connection is back.",
    },
    hidden: {
      title: "Paused",
      text: "This page was hidden. Computing continues while you can see it.",
    },
    pausedByChoice: {
      title: "Paused",
      text: "Nothing is computed until you tap Resume. A trial that was running has gone back for another device.",
    },
    pausedKept: {
      title: "Paused",
      text: "Nothing is computed until you tap Resume. The running trial is kept for a few minutes and goes on here if you resume soon.",
    },
    trialKept: "The running trial is kept for a few minutes, so that it can go on here.",
    stopped: { title: "Stopped", text: "Nothing is running on this device any more. Thank you." },
    finished: {
      title: "Finished",
      text: "The last trial is done and its result is with the server. Nothing is running any more. Thank you.",
    },
    elsewhere: {
      title: "Another tab computes",
      text: "This browser computes in one tab at a time, and another tab is doing the work. You can let it go on, or do the work here.",
    },
    interruptedTrial: (trial, study) =>
      `The browser ended this page during trial ${trial} of “${study}”. The trial is not lost: it is given out again. This device is still known; tap Start to go on, now with less memory.`,
    interruptedHidden:
      "The browser ended this page in the background. Nothing is lost and this device is still known: tap Start to go on.",
    stoppedByOperator: (study) =>
      `The operator of the server stopped “${study}”. Its trial ended here; this device goes on with other work by itself.`,
    comesBack: "This is the trial that the browser had ended here. It is computed again.",
    forgetting: { title: "Forgetting", text: "Asking the server to forget this device." },
    forgotten: {
      title: "This device is forgotten",
      text: "The server and this browser have deleted its random id and everything under it. Its results stay, without a link to it.",
    },
    notForgotten: {
      title: "Not forgotten yet",
      text: "The server could not be told, so nothing has been deleted.",
    },
    replaced: {
      title: "Another tab took over",
      text: "This browser computes in one tab at a time, and a newer tab is now doing the work.",
    },
    failed: "This did not work",
    failures: {
      agent_failed: "A part of this page could not be loaded. Reload the page and try again.",
      bad_enrolment_code:
        "This join link is no longer valid. Ask the person who sent it for a new one.",
      bad_token: "The server no longer knows this browser. Try again to join as a new device.",
      banned: "The operator has excluded this device. Ask the person who sent the link why.",
      blob_unavailable:
        "A file that the trial needs could not be fetched. Try again; if that does not help, tell the person who sent the link.",
      client_too_old: "This page is older than the server. Reload it to get the new version.",
      device_revoked:
        "The operator has removed this device. Ask the person who sent the link if you may join again.",
      full: "The server cannot take more devices at the moment. Try again later.",
      rate_limited:
        "Too many devices joined from this network just now. Wait a minute, then try again.",
      server_too_old: "The server is older than this page. Reload the page, or try again later.",
      unknown_runtime:
        "The server does not offer the software that the trial needs. Tell the person who sent the link.",
    },
    failureCode: (code) => `Code: ${code}`,
    keepScreenOn: "This browser cannot keep the screen on by itself: please keep it on.",
    screenKeptOn: "The screen stays on while this device takes part.",
  },

  unsupported: {
    title: "This browser cannot take part",
    reasons: {
      not_isolated:
        "The page was opened inside an app or in a browser that does not isolate it, so it may not compute here.",
      insecure_context: "The page was opened over an unencrypted connection (http).",
      no_shared_memory: "This browser does not let the parts of a page share memory.",
      no_module_workers: "This browser is too old to run code in the background.",
      no_wasm_simd: "This browser lacks a kind of WebAssembly that the computation needs.",
      no_webassembly: "WebAssembly is switched off in this browser, and trials compute with it.",
      no_crypto: "This browser does not let the page check the files that it fetches.",
      no_websocket: "This browser does not let the page keep a connection to the server.",
      no_streams: "This browser does not let the page read a file while it arrives.",
    },
    remedies: {
      not_isolated:
        "Copy the link and open it in an up-to-date Chrome, Edge, Firefox or Safari itself.",
      insecure_context: "Ask the person who sent the link for one that begins with https.",
      no_shared_memory:
        "Copy the link and open it in an up-to-date Chrome, Edge, Firefox or Safari.",
      no_module_workers: "Update the browser, or copy the link and open it in another one.",
      no_wasm_simd: "Update the browser, or copy the link and open it on another device.",
      no_webassembly:
        "On an iPhone or iPad in Lockdown Mode, turn that mode off for this website. Else copy the link and open it in another browser.",
      no_crypto: "Update the browser, or copy the link and open it in another one.",
      no_websocket:
        "Turn off extensions that block connections, or copy the link and open it in another browser.",
      no_streams: "Update the browser, or copy the link and open it in another one.",
    },
  },

  inApp: {
    title: "Open this page in your browser",
    text: (app) =>
      `It was opened inside ${app}. Browsers inside apps often do not let pages compute, and close them without a warning.`,
    textUnknown:
      "It was opened inside an app. Browsers inside apps often do not let pages compute, and close them without a warning.",
    menu: {
      line: "Tap ⋮ or the share symbol in LINE’s bar.",
      instagram: "Tap ⋯ at the top right.",
      facebook: "Tap ⋯ or ⋮ in the app’s bar.",
      x: "Tap the share symbol or ⋮ in the app’s bar.",
      google: "Tap ⋮ or the share symbol in the app’s bar.",
      wechat: "Tap ⋯ at the top right.",
      tiktok: "Tap ⋯ at the top right.",
      yahoo_japan: "Open the menu at the bottom of the app.",
      linkedin: "Tap ⋮ or ⋯ at the top right.",
      snapchat: "Tap ⋮ or ⋯ in the app’s bar.",
      kakaotalk: "Tap ⋮ or the share symbol in the app’s bar.",
      other: "Open the app’s menu, often ⋯ or ⋮.",
    },
    choose: (browser) => `Choose “Open in ${browser}” or “Open in browser”.`,
    byHand: (browser) => `Or copy the link and paste it into ${browser}.`,
    browser: { ios: "Safari", android: "Chrome", other: "your browser" },
  },

  memory: {
    heading: "Welcome back",
    text: "This device took part before. One tap on Start goes on.",
    linkEnded:
      "The join link is not valid any more, so nobody new can join by it. This device joined before: tap Start to see if the server still takes it.",
    toFetch: (amount) => `${amount} to fetch.`,
    given: (trials, time) => `This device gave ${trials} trials in ${time}.`,
    renamed: (before, now) => `“${before}” is now called “${now}”.`,
    damaged:
      "A project that this device remembered cannot be read any more. Open its join link again.",
    notKept:
      "This browser does not keep this project for later, as in a private window. Keep the join link to come back.",
    forget: "Forget this project",
    choose: "Your projects",
  },

  projectProblems: {
    no_code: {
      title: "No project on this device yet",
      text: "Open the whole join link that you were sent, or scan its QR code. It ends with # and a code. After a start, this page remembers the project, but not in a private window.",
    },
    bad_code: {
      title: "This join link is not valid",
      text: "It may have expired or lost a part on its way. Ask the person who sent it for a new one.",
    },
    rate_limited: {
      title: "Too many requests",
      text: "This network asked too often just now. Wait a minute, then try again.",
    },
    unreachable: {
      title: "The server cannot be reached",
      text: "Check that this device is online and in the right network, then try again.",
    },
    server: {
      title: "The server has a problem",
      text: "It could not say what this project is. Try again in a moment.",
    },
  },
  projectLoading: { title: "One moment", text: "Asking the server what this project is." },

  trial: {
    counter: (number, total) =>
      total === null ? `Trial ${number}` : `Trial ${number} of ${total}`,
    forOwner: (owner) => `for ${owner}`,
    parameters: "Being tried",
    curve: "Reported values",
    curveEmpty: "The first value has not been reported yet.",
    curveSummary: (count, first, last) =>
      count === 1
        ? `One reported value: ${last}`
        : `${count} reported values, from ${first} to ${last}`,
    latest: "Latest",
    step: (step) => `step ${step}`,
    elapsed: "Running for",
    bytes: (loaded, total) => `${loaded} of ${total}`,
  },

  contribution: {
    heading: "Your contribution",
    trials: "Trials finished",
    time: "Time computed",
    thanks: "Every trial that ends helps, also one whose result is poor. Thank you.",
  },

  given: {
    heading: "What you have given",
    today: (time, isToday) => (isToday ? `Today, since ${time}` : `Since yesterday, ${time}`),
    week: "Last 7 days",
    all: "In all",
    trials: "Trials",
    time: "Time",
    improved: "Best yet",
    note: "“Best yet” counts results that were better than all of their study before them. The server counts what it has accepted, about half a minute later.",
    card: {
      make: "Share a card",
      saved:
        "The card is saved as a picture. It names the project and these numbers, and nothing about you.",
      failed: "The card could not be drawn.",
      heading: "Computing time lent to research",
      project: (name) => `for “${name}”`,
      projects: (count) => `for ${count} projects`,
    },
  },

  project: {
    heading: "The project",
    runBy: (owner) => `Run by ${owner}`,
    progress: (done, total) => `${done} of ${total} trials finished`,
    studies: (count, formatted) => (count === 1 ? "1 study" : `${formatted} studies`),
    choose: "Choose a project",
    noTrials: "No trials yet. This device can join and wait for them.",
  },

  gpuShare: {
    label: "Graphics processor",
    hint: "Some trials compute on it. With a part of its time, the rest stays free for what you do.",
    shares: { 1: "All of its time", 0.5: "Half of its time", 0.25: "A quarter of its time" },
  },

  privacy: {
    summary: "What the server learns about this device",
    items: [
      "A random id that this browser keeps. You need no account, and nobody asks for your name.",
      "Whether this is a phone, a tablet or a computer, the kind of browser, its memory, and its number of processor cores. About its graphics processor: its maker and family, whether it is only simulated by software, whether it computes in half precision, and the size of the largest array.",
      "The results of the trials that it computes, and how long they took. From these it counts, day by day, what this device has given.",
      "If you keep that with eight words: a hash of the words, and which devices have it. Never the words.",
      "Its network address, as with every web page.",
    ],
  },

  passphrase: "Keep what you have given",
  limits: enLimits,
  app: enApp,
  selfTest: "Test what this browser can do",
  forget: {
    ask: "Forget this device",
    question:
      "Stop, and delete this device’s random id, its kind and its browser from the server and from here? The results stay, without a link to it. What you contributed is then no longer counted for this device.",
    confirm: "Yes, forget it",
    cancel: "Keep it",
  },

  footer: "Everything on this page comes from the project’s own server.",
};
