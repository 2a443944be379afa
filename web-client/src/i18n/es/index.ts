// The Spanish texts of the join page. Page thread; pure data.

import type { Dictionary } from "../dictionary.ts";
import { esApp } from "./app.ts";
import { esLimits } from "./limits.ts";

export const es: Dictionary = {
  tag: "es",
  pageTitle: "Participar – Hyperflock",
  language: "Idioma",
  languageFailed: "No se pudo descargar este idioma.",
  notReviewed: "Traducción sin revisar por hablantes nativos.",

  intro: {
    eyebrow: "Computación voluntaria",
    heading: (project) => `Presta este dispositivo a «${project}»`,
    headingWhileLoading: "Presta este dispositivo a un proyecto de investigación",
    what: (owner, project) =>
      `Este dispositivo entrenará pequeñas redes neuronales para «${project}», el proyecto de ${owner}.`,
    sandbox:
      "El código de Python se ejecuta aislado dentro de este navegador y no puede ver tus archivos, tus fotos ni otras pestañas.",
  },

  facts: {
    heading: "Qué hace falta",
    download: {
      about: (size) => `Unos ${size}`,
      between: (least, most) => `De ${least} a ${most}`,
      little: (size) => `Menos de ${size}`,
      title: (amount) => `${amount}, una sola vez`,
      exact:
        "Este navegador guarda una copia. Incluye el código y los datos de las pruebas que hay ahora.",
      text: "Este navegador guarda una copia. Algunas pruebas necesitan hasta 3 MB más y sus propios datos.",
    },
    power: {
      title: "Procesador y batería",
      text: "El dispositivo puede calentarse. Si puedes, enchúfalo.",
    },
    open: {
      title: "Esta página abierta y la pantalla encendida",
      text: "En un teléfono, el cálculo se pausa mientras la página está oculta.",
    },
    stop: {
      title: "Puedes parar cuando quieras",
      text: "Toca Detener o cierra la página: nada sigue funcionando.",
    },
  },

  actions: {
    start: "Empezar",
    stop: "Detener",
    pause: "Pausar",
    resume: "Continuar",
    finish: "Terminar y parar",
    startAgain: "Empezar otra vez",
    tryAgain: "Reintentar",
    useThisTab: "Usar esta pestaña",
    copyLink: "Copiar enlace",
    copied: "Enlace copiado",
    copyByHand: "Selecciona el enlace de arriba y cópialo.",
    linkLabel: "Enlace de participación",
    openOutside: (browser) => `Abrir en ${browser}`,
    stayHere: "Probar aquí de todos modos",
  },
  beforeTap: "No se calcula nada hasta que toques Empezar.",

  states: {
    joining: {
      title: "Registrando",
      text: "Pidiendo al servidor un identificador al azar para este navegador.",
    },
    connecting: { title: "Conectando", text: "Abriendo la conexión con el servidor." },
    unreachable: (wait) => ({
      title: "Sin conexión con el servidor",
      text: `Próximo intento en ${wait}. No tienes que hacer nada.`,
    }),
    retryingNow: {
      title: "Sin conexión con el servidor",
      text: "Intentándolo de nuevo. No tienes que hacer nada.",
    },
    waiting: {
      title: "Esperando trabajo",
      no_work: "Ahora mismo no hay nada que calcular. La próxima prueba empezará aquí sola.",
      no_matching_work:
        "Las pruebas pendientes necesitan otro tipo de dispositivo. La que encaje con este empezará sola.",
      draining: "El servidor se está reiniciando. El trabajo seguirá solo en un momento.",
      read_only:
        "El servidor no puede guardar resultados en este momento, así que no reparte trabajo. Esta página sigue preguntando.",
    },
    loading: {
      title: "Preparando",
      text: "Descargando lo que necesita la prueba. Casi todo se guarda para la próxima visita.",
    },
    computing: "Calculando",
    delivering: {
      title: "Pendiente de entrega",
      text: "Una prueba ha terminado aquí, pero no se puede contactar con el servidor. Deja esta página abierta si puedes: el resultado se enviará solo, a más tardar en tu próxima visita.",
    },
    finishing: "Esta es la última prueba: el dispositivo parará solo cuando termine.",
    computingOffline:
      "El dispositivo no tiene conexión. La prueba continúa y su resultado se enviará cuando vuelva la conexión.",
    offline: {
      title: "Este dispositivo no tiene conexión",
      text: "El trabajo seguirá solo cuando vuelva la conexión.",
    },
    hidden: {
      title: "En pausa",
      text: "Esta página estaba oculta. El cálculo continúa mientras la puedas ver.",
    },
    pausedByChoice: {
      title: "En pausa",
      text: "No se calcula nada hasta que toques Continuar. La prueba que estaba en marcha ha pasado a otro dispositivo.",
    },
    pausedKept: {
      title: "En pausa",
      text: "No se calcula nada hasta que toques Continuar. La prueba en marcha se guarda unos minutos y seguirá aquí si continúas pronto.",
    },
    trialKept: "La prueba en marcha se guarda unos minutos para poder seguir aquí.",
    stopped: {
      title: "Detenido",
      text: "Ya no se ejecuta nada en este dispositivo. Gracias.",
    },
    finished: {
      title: "Terminado",
      text: "La última prueba ha acabado y el servidor tiene su resultado. Ya no se ejecuta nada. Gracias.",
    },
    elsewhere: {
      title: "Otra pestaña está calculando",
      text: "Este navegador calcula en una sola pestaña a la vez, y otra está haciendo el trabajo. Puedes dejar que siga o hacerlo aquí.",
    },
    interruptedTrial: (trial, study) =>
      `El navegador cerró esta página durante la prueba ${trial} de «${study}». La prueba no se pierde: se reparte de nuevo. Este dispositivo sigue registrado; toca Empezar para continuar, ahora con menos memoria.`,
    interruptedHidden:
      "El navegador cerró esta página en segundo plano. No se ha perdido nada y este dispositivo sigue registrado: toca Empezar para continuar.",
    stoppedByOperator: (study) =>
      `Quien administra el servidor detuvo «${study}». Su prueba terminó aquí; este dispositivo sigue solo con otro trabajo.`,
    comesBack: "Es la prueba que el navegador había interrumpido aquí. Se calcula de nuevo.",
    forgetting: {
      title: "Olvidando",
      text: "Pidiendo al servidor que olvide este dispositivo.",
    },
    forgotten: {
      title: "Este dispositivo está olvidado",
      text: "El servidor y este navegador han borrado su identificador y todo lo guardado con él. Sus resultados se conservan, sin relación con él.",
    },
    notForgotten: {
      title: "Aún no está olvidado",
      text: "No se pudo avisar al servidor, así que no se ha borrado nada.",
    },
    replaced: {
      title: "Otra pestaña tomó el relevo",
      text: "Este navegador calcula en una sola pestaña a la vez, y ahora una más nueva hace el trabajo.",
    },
    failed: "No ha funcionado",
    failures: {
      agent_failed:
        "No se pudo cargar una parte de esta página. Vuelve a cargarla e inténtalo de nuevo.",
      bad_enrolment_code:
        "Este enlace de participación ya no es válido. Pide uno nuevo a quien te lo envió.",
      bad_token:
        "El servidor ya no conoce este navegador. Reinténtalo para registrarlo como dispositivo nuevo.",
      banned:
        "Quien administra el servidor ha excluido este dispositivo. Pregunta el motivo a quien te envió el enlace.",
      blob_unavailable:
        "No se pudo descargar un archivo que la prueba necesita. Reinténtalo; si no ayuda, avisa a quien te envió el enlace.",
      client_too_old:
        "Esta página es más antigua que el servidor. Vuelve a cargarla para tener la versión nueva.",
      device_revoked:
        "Quien administra el servidor ha retirado este dispositivo. Pregunta a quien te envió el enlace si puedes volver a participar.",
      full: "El servidor no admite más dispositivos en este momento. Reinténtalo más tarde.",
      rate_limited:
        "Acaban de registrarse demasiados dispositivos desde esta red. Espera un minuto y reinténtalo.",
      server_too_old:
        "El servidor es más antiguo que esta página. Vuelve a cargarla o reinténtalo más tarde.",
      unknown_runtime:
        "El servidor no ofrece el software que la prueba necesita. Avisa a quien te envió el enlace.",
    },
    failureCode: (code) => `Código: ${code}`,
    keepScreenOn:
      "Este navegador no puede mantener la pantalla encendida por sí solo: mantenla encendida tú.",
    screenKeptOn: "La pantalla sigue encendida mientras este dispositivo participa.",
  },

  unsupported: {
    title: "Este navegador no puede participar",
    reasons: {
      not_isolated:
        "La página se abrió dentro de una aplicación o en un navegador que no la aísla, así que aquí no puede calcular.",
      insecure_context: "La página se abrió con una conexión sin cifrar (http).",
      no_shared_memory: "Este navegador no permite que las partes de una página compartan memoria.",
      no_module_workers:
        "Este navegador es demasiado antiguo para ejecutar código en segundo plano.",
      no_wasm_simd: "A este navegador le falta un tipo de WebAssembly que el cálculo necesita.",
      no_webassembly:
        "WebAssembly está desactivado en este navegador, y las pruebas calculan con él.",
      no_crypto: "Este navegador no deja que la página compruebe los archivos que descarga.",
      no_websocket: "Este navegador no deja que la página mantenga una conexión con el servidor.",
      no_streams: "Este navegador no deja que la página lea un archivo mientras llega.",
    },
    remedies: {
      not_isolated:
        "Copia el enlace y ábrelo directamente en Chrome, Edge, Firefox o Safari actualizados.",
      insecure_context: "Pide a quien te envió el enlace uno que empiece por https.",
      no_shared_memory: "Copia el enlace y ábrelo en Chrome, Edge, Firefox o Safari actualizados.",
      no_module_workers: "Actualiza el navegador, o copia el enlace y ábrelo en otro.",
      no_wasm_simd: "Actualiza el navegador, o copia el enlace y ábrelo en otro dispositivo.",
      no_webassembly:
        "En un iPhone o iPad en modo de aislamiento, desactiva ese modo para este sitio. Si no, copia el enlace y ábrelo en otro navegador.",
      no_crypto: "Actualiza el navegador, o copia el enlace y ábrelo en otro.",
      no_websocket:
        "Desactiva las extensiones que bloquean conexiones, o copia el enlace y ábrelo en otro navegador.",
      no_streams: "Actualiza el navegador, o copia el enlace y ábrelo en otro.",
    },
  },

  inApp: {
    title: "Abre esta página en tu navegador",
    text: (app) =>
      `Se abrió dentro de ${app}. Los navegadores dentro de aplicaciones a menudo no dejan calcular a las páginas y las cierran sin avisar.`,
    textUnknown:
      "Se abrió dentro de una aplicación. Los navegadores dentro de aplicaciones a menudo no dejan calcular a las páginas y las cierran sin avisar.",
    menu: {
      line: "Toca ⋮ o el símbolo de compartir en la barra de LINE.",
      instagram: "Toca ⋯ arriba a la derecha.",
      facebook: "Toca ⋯ o ⋮ en la barra de la aplicación.",
      x: "Toca el símbolo de compartir o ⋮ en la barra de la aplicación.",
      google: "Toca ⋮ o el símbolo de compartir en la barra de la aplicación.",
      wechat: "Toca ⋯ arriba a la derecha.",
      tiktok: "Toca ⋯ arriba a la derecha.",
      yahoo_japan: "Abre el menú de la parte inferior de la aplicación.",
      linkedin: "Toca ⋮ o ⋯ arriba a la derecha.",
      snapchat: "Toca ⋮ o ⋯ en la barra de la aplicación.",
      kakaotalk: "Toca ⋮ o el símbolo de compartir en la barra de la aplicación.",
      other: "Abre el menú de la aplicación, a menudo ⋯ o ⋮.",
    },
    choose: (browser) => `Elige «Abrir en ${browser}» o «Abrir en el navegador».`,
    byHand: (browser) => `O copia el enlace y pégalo en ${browser}.`,
    browser: { ios: "Safari", android: "Chrome", other: "tu navegador" },
  },

  memory: {
    heading: "Qué bien que vuelvas",
    text: "Este dispositivo ya ha participado. Toca Empezar para seguir.",
    linkEnded:
      "El enlace de participación ya no es válido, así que nadie más puede registrarse con él. Este dispositivo se registró antes: toca Empezar para ver si el servidor aún lo admite.",
    toFetch: (amount) => `Por descargar: ${amount}.`,
    given: (trials, time) => `Este dispositivo aportó ${trials} pruebas en ${time}.`,
    renamed: (before, now) => `«${before}» ahora se llama «${now}».`,
    damaged:
      "Un proyecto que este dispositivo recordaba ya no se puede leer. Abre otra vez su enlace de participación.",
    notKept:
      "Este navegador no guarda este proyecto para después, como en una ventana privada. Conserva el enlace para volver.",
    forget: "Olvidar este proyecto",
    choose: "Tus proyectos",
  },

  projectProblems: {
    no_code: {
      title: "Aún no hay ningún proyecto en este dispositivo",
      text: "Abre completo el enlace que te enviaron o escanea su código QR. Termina con # y un código. Después de empezar, esta página recuerda el proyecto, salvo en una ventana privada.",
    },
    bad_code: {
      title: "Este enlace de participación no es válido",
      text: "Puede haber caducado o perdido una parte por el camino. Pide uno nuevo a quien te lo envió.",
    },
    rate_limited: {
      title: "Demasiadas peticiones",
      text: "Esta red acaba de preguntar demasiadas veces. Espera un minuto y reinténtalo.",
    },
    unreachable: {
      title: "No se puede contactar con el servidor",
      text: "Comprueba que este dispositivo tiene conexión y está en la red correcta, y reinténtalo.",
    },
    server: {
      title: "El servidor tiene un problema",
      text: "No pudo decir qué proyecto es este. Reinténtalo en un momento.",
    },
  },
  projectLoading: {
    title: "Un momento",
    text: "Preguntando al servidor qué proyecto es este.",
  },

  trial: {
    counter: (number, total) =>
      total === null ? `Prueba ${number}` : `Prueba ${number} de ${total}`,
    forOwner: (owner) => `para ${owner}`,
    parameters: "Lo que se prueba",
    curve: "Valores comunicados",
    curveEmpty: "Aún no se ha comunicado el primer valor.",
    curveSummary: (count, first, last) =>
      count === 1
        ? `Un valor comunicado: ${last}`
        : `${count} valores comunicados, de ${first} a ${last}`,
    latest: "Último",
    step: (step) => `paso ${step}`,
    elapsed: "En marcha desde hace",
    bytes: (loaded, total) => `${loaded} de ${total}`,
  },

  contribution: {
    heading: "Tu aportación",
    trials: "Pruebas terminadas",
    time: "Tiempo de cálculo",
    thanks: "Cada prueba que termina ayuda, también aquella cuyo resultado es malo. Gracias.",
  },

  given: {
    heading: "Lo que has aportado",
    today: (time, isToday) => (isToday ? `Hoy, desde las ${time}` : `Desde ayer a las ${time}`),
    week: "Últimos 7 días",
    all: "En total",
    trials: "Pruebas",
    time: "Tiempo",
    improved: "Mejores",
    note: "«Mejores» cuenta los resultados que superaron a todos los anteriores de su estudio. El servidor cuenta lo que ha aceptado, con medio minuto de retraso.",
    card: {
      make: "Compartir una tarjeta",
      saved:
        "La tarjeta se ha guardado como imagen. Muestra el proyecto y estas cifras, y nada sobre ti.",
      failed: "No se pudo dibujar la tarjeta.",
      heading: "Tiempo de cálculo prestado a la investigación",
      project: (name) => `para «${name}»`,
      projects: (count) => `para ${count} proyectos`,
    },
  },

  project: {
    heading: "El proyecto",
    runBy: (owner) => `A cargo de ${owner}`,
    progress: (done, total) => `${done} de ${total} pruebas terminadas`,
    studies: (count, formatted) => (count === 1 ? "1 estudio" : `${formatted} estudios`),
    choose: "Elige un proyecto",
    noTrials: "Aún no hay pruebas. Este dispositivo puede registrarse y esperarlas.",
  },

  gpuShare: {
    label: "Procesador gráfico",
    hint: "Algunas pruebas calculan en él. Con una parte de su tiempo, el resto queda libre para lo que hagas.",
    shares: { 1: "Todo su tiempo", 0.5: "La mitad de su tiempo", 0.25: "Un cuarto de su tiempo" },
  },

  privacy: {
    summary: "Qué sabe el servidor de este dispositivo",
    items: [
      "Un identificador al azar que este navegador guarda. No necesitas cuenta y nadie te pide tu nombre.",
      "Si es un teléfono, una tableta o un ordenador, el tipo de navegador, su memoria y su número de núcleos. De su procesador gráfico: el fabricante y la familia, si solo lo simula el software, si calcula con media precisión y el tamaño de la matriz más grande.",
      "Los resultados de las pruebas que calcula y cuánto tardaron. Con ellos cuenta, día a día, lo que este dispositivo ha aportado.",
      "Si lo conservas con ocho palabras: un hash de las palabras y qué dispositivos lo tienen. Nunca las palabras.",
      "Su dirección de red, como cualquier página web.",
    ],
  },

  passphrase: "Conservar lo que has aportado",
  limits: esLimits,
  app: esApp,
  selfTest: "Comprobar qué puede hacer este navegador",
  forget: {
    ask: "Olvidar este dispositivo",
    question:
      "¿Detener, y borrar del servidor y de aquí el identificador de este dispositivo, su tipo y su navegador? Los resultados se conservan, sin relación con él. Lo que aportaste dejará de contarse para este dispositivo.",
    confirm: "Sí, olvidarlo",
    cancel: "Conservarlo",
  },

  footer: "Todo lo que hay en esta página viene del propio servidor del proyecto.",
};
