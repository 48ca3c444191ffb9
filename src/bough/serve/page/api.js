// Asking the server; what is wrong comes back as an Error with one line.

export async function ask(path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is bough serve still running?");
  }
  const answer = await response.json().catch(() => ({ detail: `the server answered ${response.status}` }));
  if (response.ok) return answer;
  if (response.status === 429 && !signal?.aborted) {
    await new Promise((resume) => setTimeout(resume, 1000));
    return ask(path, body, signal);
  }
  throw new Error(answer.detail);
}
