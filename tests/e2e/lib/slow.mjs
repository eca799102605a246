// Stages that last long enough to be seen on any machine, and what a page shows while each of them is under way.

/** Frames for which a report is held back. */
const FRAMES = 3;

/**
 * Holds back, for some frames, what the engine in the tab reports of each of its steps and what a server says of each event of a job. A
 * page then has had the time to draw what is under way, and must show it. Before each report is let through, `globalThis.underWay` gets
 * the stage that it is about, how many of its parts were done before it, and what `look`, a function for the page, returns.
 */
export function slowStages(page, look = () => ({})) {
  return page.addInitScript(`(${slow})(${FRAMES}, ${look})`);
}

/** Runs in the page, before its own scripts. */
function slow(count, look) {
  globalThis.underWay = [];
  const frames = async () => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  };
  const parts = {};
  const note = ({ stage, done }) => globalThis.underWay.push({ stage, done, ...look() });
  const stageOf = (events) => events.find(({ kind }) => kind !== 'view')?.stage;

  // A reply of the worker comes when its step is over: until it is let through, the step is under way.
  const Real = globalThis.Worker;
  globalThis.Worker = class extends Real {
    set onmessage(listener) {
      let before = Promise.resolve();
      super.onmessage = (event) => {
        before = before.then(async () => {
          const events = event.data.value?.events ?? [];
          const stage = stageOf(events);
          if (stage) {
            await frames();
            if (events.some(({ kind }) => kind === 'enter')) parts[stage] = 0;
            note({ stage, done: parts[stage] });
            for (const { kind, done } of events) if (kind === 'progress') parts[stage] = done;
          }
          listener(event);
        });
      };
    }
  };

  // A server's events come as they happen: after one that begins a stage or ends a part of it, the stage is under way.
  const { fetch } = globalThis;
  globalThis.fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (!/\/v1\/jobs\/[^/]+\/events/.test(String(url)) || !response.body) return response;
    let rest = '';
    const oneByOne = new TransformStream({
      async transform(text, controller) {
        const messages = (rest + text).split(/(?<=\n\n)/);
        rest = messages.at(-1).endsWith('\n\n') ? '' : messages.pop();
        for (const message of messages) {
          controller.enqueue(message);
          await frames();
          const { kind, stage, done = 0 } = JSON.parse(/^data: ?(.*)$/m.exec(message)?.[1] ?? '{}');
          if (kind === 'enter' || kind === 'progress') note({ stage, done });
        }
      },
      flush: (controller) => controller.enqueue(rest),
    });
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(oneByOne).pipeThrough(new TextEncoderStream());
    return new Response(body, response);
  };
}
