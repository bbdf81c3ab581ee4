// The pane Send: a payload from the example of the schema, and the outcomes of what this tab has sent.
import { RejectedError, UnknownOutcomeError, decodeValue } from './statecast.js'
import { button, duration, element, group, json, note, printable, section } from './format.js'

export class Send {
  constructor(app) { this.app = app }
  /** Begins or continues the session of this tab with a store. */
  reset() {
    this.sender?.close()
    this.form = this.sender = null; this.outcomes = element('tbody')
    if (!this.app.has('send')) return
    const onResumed = ({ number, action }, outcome) => this.record(action, outcome, number)
    this.sender = this.app.client.sender(this.app.store, { storage: sessionStorage, onResumed })
  }
  async content() {
    if (this.form) return this.form
    const { actions } = await this.app.get('schema'), problem = note('', 'error')
    const choice = element('select', { id: 'send-action' }, actions.map(({ name }) => element('option', { value: name }, printable(name))))
    const payload = element('textarea', { id: 'send-payload', rows: 12, spellcheck: 'false', autocomplete: 'off' })
    const submit = element('button', { class: 'btn main', type: 'submit' })
    const fill = choice.onchange = () => {
      payload.value = json(actions[choice.selectedIndex]?.example ?? {}, '', '  ')
      submit.textContent = `Send ${printable(choice.value)}`; problem.textContent = ''
    }
    const onsubmit = event => {
      event.preventDefault(); problem.textContent = ''
      try { this.record(choice.value, this.sender.send(choice.value, decodeValue(JSON.parse(payload.value)))) } catch (error) {
        problem.textContent = `The payload is not JSON: ${error.message}`
      }
    }
    fill()
    const form = element('form', { class: 'form', onsubmit }, element('label', { for: 'send-action' }, 'action'), choice,
      element('label', { for: 'send-payload' }, 'payload'), payload, problem,
      element('div', { class: 'copy' }, submit, button('Reset', fill)))
    const help = note('A lost answer is safe: the page repeats an action with its number, and the gateway returns the first outcome. '
      + 'Integers beyond 2^53 are written {"$int":"…"}.')
    return this.form = [section('Send an action', form, help),
      section('Sent from this tab', element('table', { class: 'blame', id: 'sent' }, this.outcomes))]
  }
  async record(action, outcome, number = '') {
    const cells = ['r', '', '', 'r', 'r'].map(name => element('td', { class: name })), begin = performance.now()
    const show = (...texts) => texts.forEach((text, index) => { cells[index].textContent = cells[index].title = printable(text) })
    this.outcomes.prepend(element('tr', {}, cells)); show(number, action, 'waiting')
    try {
      const done = await outcome
      cells[2].className = 'green'
      show(done.number, action, 'applied', group(done.revision), duration(performance.now() - begin))
    } catch (error) {
      const isUnknown = error instanceof UnknownOutcomeError
      const status = error instanceof RejectedError ? `rejected ${error.code}` : isUnknown ? 'unknown' : error.code
      cells[2].className = 'red'
      show(error.number ?? number, action, `${status}: ${error.message}`, '', duration(performance.now() - begin))
    }
  }
}
