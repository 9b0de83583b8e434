// An application with documents, each readable by its viewers, with Spring Boot. Here the subject comes from a header; take
// it from your session, such as the name of the principal of Spring Security.

package io.github.grantd.examples;

import io.github.grantd.Grantd;
import io.github.grantd.GrantdException;
import io.github.grantd.Guard;
import io.github.grantd.ObjectsQuery;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Starts the application. */
@SpringBootApplication
public class SpringDocuments {
    /** Who may call a method: subjects with the relation on the object that the variable of its path names. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Requires {
        /** A relation or derived name. */
        String relation();

        /** The namespace of the object. */
        String namespace();

        /** The variable of the path with its id. */
        String id() default "id";
    }

    /** Runs before every method with {@link Requires}, and lets it run only after a yes. */
    static final class RequiresInterceptor implements HandlerInterceptor {
        private final Guard guard;

        RequiresInterceptor(Grantd grantd) {
            guard = new Guard(grantd, error -> System.err.println(error));
        }

        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
            throws IOException {
            Requires required = handler instanceof HandlerMethod method ? method.getMethodAnnotation(Requires.class) : null;
            if (required == null) return true;
            // As Spring has read the path, so that the check is about what the method gets.
            Map<?, ?> variables = (Map<?, ?>) request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE);
            String object = required.namespace() + ":" + variables.get(required.id());
            Guard.Verdict verdict = guard.decide(subjectOf(request), required.relation(), object);
            if (verdict == Guard.Verdict.ALLOWED) return true;
            response.sendError(verdict.status());
            return false;
        }
    }

    /** The documents. */
    @RestController
    static class Documents {
        private static final int DOCUMENTS_MAX = 100;

        private final Grantd grantd;

        Documents(Grantd grantd) {
            this.grantd = grantd;
        }

        @GetMapping("/documents/{id}")
        @Requires(relation = "viewer", namespace = "document")
        String read(@PathVariable("id") String id) {
            return "This is " + id + ".";
        }

        /** What its reader may read, and nothing else. */
        @GetMapping("/documents")
        ResponseEntity<List<String>> list(HttpServletRequest request) {
            String subject = subjectOf(request);
            if (subject == null) return ResponseEntity.status(HttpStatus.UNAUTHORIZED).build();
            ObjectsQuery query = ObjectsQuery.of(subject, "viewer").withNamespace("document");
            return ResponseEntity.ok(grantd.listObjects(query).stream()
                .limit(DOCUMENTS_MAX)
                .map(document -> document.substring("document:".length()))
                .toList());
        }

        /** Neither a yes nor a no: the request is not served, and may be repeated. */
        @ExceptionHandler
        ResponseEntity<Void> noAnswer(GrantdException error) {
            System.err.println(error);
            return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).header(HttpHeaders.RETRY_AFTER, "1").build();
        }
    }

    static String subjectOf(HttpServletRequest request) {
        return request.getHeader("X-Subject");
    }

    @Bean
    Grantd grantd() {
        return Grantd.fromEnvironment();
    }

    @Bean
    WebMvcConfigurer guards(Grantd grantd) {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(new RequiresInterceptor(grantd));
            }
        };
    }

    @EventListener
    void listens(ServletWebServerInitializedEvent event) {
        System.out.println("http://127.0.0.1:" + event.getWebServer().getPort());
    }

    /** Starts it on the port of the variable {@code PORT}. */
    public static void main(String[] args) {
        SpringApplication.run(
            SpringDocuments.class, "--server.port=${PORT:0}", "--server.address=127.0.0.1",
            "--spring.main.banner-mode=off", "--logging.level.root=warn");
    }
}
