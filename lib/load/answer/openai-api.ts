/** The APIs of OpenAI whose streams are read. */
export type OpenAiApi = 'chat' | 'completions';
