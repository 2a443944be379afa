// The Spanish texts of the limits that a volunteer sets. Page thread; pure data.

import type { LimitsWords } from "../limits_words.ts";

export const esLimits: LimitsWords = {
  heading: "Cuándo calcula este dispositivo",
  none: "Siempre que esta página esté abierta",
  hint: "Este dispositivo guarda estas opciones. Una pausa termina sola mientras esta página está a la vista.",
  onlyCharging: "Solo mientras se carga",
  onlyUnmetered: "No con datos móviles",
  batteryFloor: "Batería",
  noFloor: "Con cualquier nivel",
  floor: (percent) => `Pausar por debajo del ${percent}`,
  hours: "Horas del día",
  anyHour: "A cualquier hora",
  from: "Desde",
  until: "Hasta",
  minutesADay: "Tiempo por día",
  noEnd: "Mientras esté abierta",
  minutes: (minutes) => `Como máximo ${minutes}`,
  dataADay: "Datos por día",
  dataAStudy: "Datos por estudio",
  anyData: "Los que necesiten las pruebas",
  data: (size) => `Como máximo ${size}`,
  processor: "Procesador",
  processorShares: {
    1: "Todo su tiempo",
    0.5: "La mitad de su tiempo, menos calor",
    0.25: "Un cuarto de su tiempo, aún menos calor",
  },
  short: {
    not_charging: () => "solo mientras se carga",
    battery_low: ({ percent }) => `batería por encima del ${percent}`,
    metered: () => "no con datos móviles",
    outside_hours: ({ from, until }) => `de ${from} a ${until}`,
    minutes_used: ({ minutes }) => `${minutes} al día`,
    data_used: ({ dataADay }) => `${dataADay} de datos al día`,
  },
  shortStudy: (size) => `${size} de datos por estudio`,
  refused: {
    study: (study, size, limit) =>
      `El estudio «${study}» descargaría ${size}, y permites ${limit} por estudio. Si permites más, empieza solo. Un estudio que descargue menos empieza enseguida.`,
    day: (study, size, limit) =>
      `El estudio «${study}» descargaría ${size}, y queda demasiado poco de los ${limit} que permites al día. Empieza solo mañana, o si permites más. Un estudio que descargue menos empieza enseguida.`,
  },
  paused: {
    not_charging: () => ({
      title: "En pausa: sin cargar",
      text: "El cálculo sigue solo cuando este dispositivo se esté cargando.",
    }),
    battery_low: ({ percent }) => ({
      title: "En pausa: batería baja",
      text: `La batería está por debajo del ${percent}. El cálculo sigue solo cuando haya subido o con el cargador.`,
    }),
    metered: () => ({
      title: "En pausa: datos móviles",
      text: "El cálculo sigue solo cuando este dispositivo tenga Wi-Fi y no esté ahorrando datos.",
    }),
    outside_hours: ({ from, until }) => ({
      title: `En pausa hasta las ${from}`,
      text: `Elegiste las horas de ${from} a ${until}. El cálculo sigue solo entonces.`,
    }),
    minutes_used: ({ minutes }) => ({
      title: "En pausa: bastante por hoy",
      text: `Hoy este dispositivo ha calculado ${minutes}. Mañana sigue solo.`,
    }),
    data_used: ({ dataADay }) => ({
      title: "En pausa: bastantes datos por hoy",
      text: `Este dispositivo ha descargado los ${dataADay} que permites al día. Sigue solo mañana, o si permites más.`,
    }),
  },
  cooling: {
    heat: (share) => ({
      title: `Enfriando: ${share} del tiempo`,
      text: "Este dispositivo se ha vuelto lento, como pasa con el calor. La prueba continúa con descansos, y sin ellos en cuanto descansar ya no ayude.",
    }),
    pressure: (share) => ({
      title: `Enfriando: ${share} del tiempo`,
      text: "El navegador indica que este dispositivo tiene mucha carga. La prueba continúa con descansos, y sin ellos cuando la carga haya bajado.",
    }),
  },
};
